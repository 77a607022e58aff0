// A server that keeps history, on a clock that the test moves, and the commands that explain what was.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { run } from '../../../src/cli/main.ts';
import type { Terminal } from '../../../src/flags/command.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { parseYamlStream } from '../../../src/schema/yaml.ts';
import { kubeconfigText } from './kubectl.ts';
import { type MemoryServer, startMemoryServer } from './memory-server.ts';
import type { Ran } from './run-command.ts';
import { type CutLine, openCutLine } from './severable-link.ts';

export type PastWorld = {
  readonly server: MemoryServer;
  /** Between the commands and the server. */
  readonly link: CutLine;
  /** Of the commands. */
  readonly kubeconfig: string;
  /** On the server and, unless a command has another, on the machine of its user. */
  timeMs: number;
  readonly apply: (manifest: string, path: string) => Promise<KubeObject>;
  /** Words are divided by single spaces. */
  readonly run: (line: string, options?: RunOptions) => Promise<Ran>;
};

export type RunOptions = {
  readonly nowMs?: number;
  readonly terminal?: Terminal;
  readonly interrupted?: AbortSignal;
};

export const worldStart = Date.parse('2026-01-01T12:00:00Z');

export type PastWorldOptions = { readonly keepsHistory?: boolean };

export async function startPastWorld(
  t: TestContext,
  { keepsHistory = true }: PastWorldOptions = {},
): Promise<PastWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-past-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const world = { timeMs: worldStart } as { -readonly [K in keyof PastWorld]: PastWorld[K] };
  const history = {
    directory: join(directory, 'history'),
    retentionMs: 3_600_000,
    maxBytes: 1 << 26,
  };
  const server = await startMemoryServer({
    clock: { now: () => world.timeMs },
    access: keepsHistory ? { history } : {},
  });
  const link = await openCutLine(`https://127.0.0.1:${server.server.address.port}`);
  writeFileSync(kubeconfig, kubeconfigText(Number(new URL(link.url).port)));
  t.after(async () => {
    link.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return Object.assign(world, {
    ...{ server, link, kubeconfig },
    async apply(manifest: string, path: string) {
      const [document] = parseYamlStream(manifest);
      if (document === undefined || 'error' in document) throw new Error('no manifest');
      return await server.api.post<KubeObject>(path, document.value);
    },
    async run(line: string, { nowMs, terminal, interrupted }: RunOptions = {}) {
      let out = '';
      let err = '';
      const code = await run([...line.split(' '), '--kubeconfig', kubeconfig], {
        write: (text) => (out += text),
        writeError: (text) => (err += text),
        env: {},
        cwd: () => directory,
        now: () => nowMs ?? world.timeMs,
        startedAt: 0,
        interrupted: interrupted ?? new AbortController().signal,
        ...(terminal === undefined ? {} : { terminal }),
      });
      return { code, out, err };
    },
  });
}
