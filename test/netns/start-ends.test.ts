// `npm start` with a network of its own ends with its parent: no process and no namespace is left.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { renameSync, rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { makeClone, type NpmStart, npmStart, type Pids } from '../lanes/npm-start.ts';
import { leftOf } from '../lanes/process-traces.ts';

/** Room for a slow machine: nothing here waits for its own sake. */
const timeout = 300_000;

const ways: readonly {
  readonly who: keyof Pids;
  readonly signal: NodeJS.Signals;
  readonly isInOrder: boolean;
}[] = [
  { who: 'npm', signal: 'SIGTERM', isInOrder: true },
  { who: 'npm', signal: 'SIGHUP', isInOrder: true },
  { who: 'npm', signal: 'SIGKILL', isInOrder: true },
  { who: 'starter', signal: 'SIGKILL', isInOrder: true },
  { who: 'program', signal: 'SIGHUP', isInOrder: true },
  // The kernel ends what is inside with it.
  { who: 'program', signal: 'SIGKILL', isInOrder: false },
];

describe('npm start with an isolated network', { timeout }, () => {
  const clone = makeClone();
  after(clone.remove);

  for (const { who, signal, isInOrder } of ways) {
    test(`all ends when ${who} gets ${signal}`, async () => {
      const run = await npmStart(clone.directory, []);
      process.kill(run.pids[who], signal);
      await assertEnded(run);
      assert.equal(run.hasEndedInOrder(), isInOrder, run.output());
    });
  }

  test('all ends in order when each process gets SIGTERM at once, as from a process manager', async () => {
    const run = await npmStart(clone.directory, []);
    for (const { pid } of run.traces.processes) process.kill(pid, 'SIGTERM');
    await assertEnded(run);
    assert.ok(run.hasEndedInOrder(), run.output());
  });

  const removals: Readonly<Record<string, (data: string) => void>> = {
    removed: (data) => rmSync(data, { recursive: true }),
    'moved away': (data) => renameSync(data, `${data}.moved`),
  };
  for (const [name, remove] of Object.entries(removals)) {
    test(`all ends, and says why, when the data directory is ${name}`, async () => {
      const run = await npmStart(clone.directory, []);
      const exited = once(run.process, 'exit');
      remove(run.dataDir);
      const [code] = await exited;
      assert.equal(code, 1, run.output());
      const expected = `error: Cannot go on: "${run.dataDir}" was removed while it was in use`;
      assert.ok(run.output().includes(expected), run.output());
      assert.ok(!/\n\s+at /.test(run.output()), run.output());
      await assertEnded(run);
    });
  }
});

async function assertEnded({ traces }: NpmStart): Promise<void> {
  const left = await leftOf(traces);
  for (const text of left) {
    const [, pid] = /^process (\d+)$/.exec(text) ?? [];
    if (pid !== undefined) process.kill(Number(pid), 'SIGKILL');
  }
  assert.deepEqual(left, []);
}
