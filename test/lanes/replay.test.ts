// The recorded API conversations, replayed against the real binary. A case that is not on the list of accepted
// differences must pass; one that is on it must still differ, so that the list only shrinks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, startBinary } from './running-server.ts';

type StepResult = {
  case: string;
  step: number;
  level: number;
  what?: string;
  want: unknown;
  got: unknown;
};

test('replay of the recorded API conversations', async (t) => {
  const server = await startBinary();
  try {
    const report = join(server.directory, 'replay.json');
    const runner = join(root, 'test', 'conformance', 'replay.mjs');
    const args = [
      runner,
      '--kubeconfig',
      server.kubeconfig,
      '--json',
      report,
      '--show',
      '0',
      '--parallel',
      '8',
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await once(child, 'exit');
    const results = JSON.parse(await readFile(report, 'utf8')) as StepResult[];
    const accepted = await acceptedCases();
    const cases = new Map<string, StepResult[]>();
    for (const result of results)
      cases.set(result.case, [...(cases.get(result.case) ?? []), result]);
    assert.ok(cases.size > 0, 'no case was replayed');
    for (const [name, steps] of cases) {
      await t.test(name, () => {
        const bad = steps.filter((step) => step.level < 3);
        if (accepted.has(name)) {
          assert.notEqual(
            bad.length,
            0,
            'passes now: take it off the list of accepted differences',
          );
          return;
        }
        assert.deepEqual(bad, []);
      });
    }
  } finally {
    await server.stop();
  }
});

async function acceptedCases(): Promise<ReadonlySet<string>> {
  const file = await readFile(join(root, 'test', 'accepted-differences.json'), 'utf8');
  const { replay } = JSON.parse(file) as { replay: Record<string, string> };
  return new Set(Object.keys(replay));
}
