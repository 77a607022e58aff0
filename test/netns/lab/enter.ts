// Runs a program in a lab: a network and a process space of its own. When it ends, however it ends, all that it started
// ends with it, and nothing is left on the machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type LabResult = {
  readonly code: number | null;
  /** Whatever it said, on both streams. */
  readonly output: string;
  readonly stdout: string;
};

/** `script` is a compiled file beside this folder, as `roll-over.js`. */
export async function runInLab(script: string, args: readonly string[]): Promise<LabResult> {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-lab-'));
  const child = spawn(
    'unshare',
    [
      ...['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc'],
      ...['sh', '-c', 'ip link set lo up && exec "$0" "$@"', process.execPath, path, ...args],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TMPDIR: directory } },
  );
  let output = '';
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
    output += String(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  rmSync(directory, { recursive: true, force: true });
  return { code, output, stdout };
}
