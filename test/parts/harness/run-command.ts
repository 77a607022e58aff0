// A command line in this process, with what it says and how it ends.
import { run } from '../../../src/cli/main.ts';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Words are divided by single spaces; files are relative to the directory. */
export async function runCommand(line: string, directory: string): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await run(line.split(' '), {
    write: (text) => (out += text),
    writeError: (text) => (err += text),
    env: {},
    cwd: () => directory,
    now: Date.now,
    startedAt: 0,
    interrupted: new AbortController().signal,
  });
  return { code, out, err };
}
