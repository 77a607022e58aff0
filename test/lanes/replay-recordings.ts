// The recorded API conversations, replayed against a running server. A case that is not on the list of accepted
// differences must pass; one that is on it must still differ, so that the list only shrinks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type RunningServer, root } from './running-server.ts';

type StepResult = {
  case: string;
  step: number;
  level: number;
  what?: string;
  want: unknown;
  got: unknown;
};
type Cases = ReadonlyMap<string, readonly StepResult[]>;

export type Recordings = 'conformance' | 'conformance-workloads';

export async function replayRecordings(
  t: TestContext,
  server: RunningServer,
  recordings: Recordings,
): Promise<void> {
  const accepted = await acceptedCases();
  const first = await replay({ server, recordings }, [], 8);
  assert.ok(first.size > 0, 'no case was replayed');
  const failed = [...first].filter(([name, steps]) => differs(steps) && !accepted.has(name));
  // Cases that ask for a fixed address or port can meet a random one of a case beside them: once more, alone.
  const again =
    failed.length === 0
      ? new Map()
      : await replay(
          { server, recordings },
          failed.map(([name]) => name),
          1,
        );
  for (const [name, steps] of [...first, ...again]) {
    if (again.has(name) && steps !== again.get(name)) continue;
    await t.test(name, () => {
      if (accepted.has(name)) {
        assert.ok(differs(steps), 'passes now: take it off the list of accepted differences');
        return;
      }
      assert.deepEqual(steps.filter(isBad), []);
    });
  }
}

const isBad = ({ level }: StepResult): boolean => level < 3;
const differs = (steps: readonly StepResult[]): boolean => steps.some(isBad);

type Replayed = { readonly server: RunningServer; readonly recordings: Recordings };

async function replay(
  { server, recordings }: Replayed,
  only: readonly string[],
  parallel: number,
): Promise<Cases> {
  const report = join(server.directory, 'replay.json');
  const runner = join(root, 'test', 'conformance', 'replay.mjs');
  const folder = ['--cases', join(root, 'test', recordings, 'cases')];
  const args = [runner, '--kubeconfig', server.kubeconfig, '--json', report, ...folder];
  const pattern = only.map((name) => name.replace(/[^\w ]/g, '\\$&')).join('|');
  const some = only.length === 0 ? [] : ['--only', `^(${pattern})$`];
  const child = spawn(
    process.execPath,
    [...args, '--show', '0', '--parallel', String(parallel), ...some],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  await once(child, 'exit');
  const results = JSON.parse(await readFile(report, 'utf8')) as StepResult[];
  const cases = new Map<string, StepResult[]>();
  for (const result of results) cases.set(result.case, [...(cases.get(result.case) ?? []), result]);
  return cases;
}

async function acceptedCases(): Promise<ReadonlySet<string>> {
  const file = await readFile(join(root, 'test', 'accepted-differences.json'), 'utf8');
  const { replay: accepted } = JSON.parse(file) as { replay: Record<string, string> };
  return new Set(Object.keys(accepted));
}
