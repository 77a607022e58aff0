import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerRecord, ContainerRecords } from './container-record.ts';
import { interruptedRecords } from './interrupted-records.ts';

const rest = { restartCount: 0, isStarted: false, isReady: false };
const running: ContainerRecord = { ...rest, state: { kind: 'running', id: 'a', startedAt: 1 } };
const ended = (exitCode: number): ContainerRecord => ({
  ...rest,
  state: { kind: 'terminated', exitCode, reason: 'Any', startedAt: 1, finishedAt: 2 },
});

const codes = (records: ContainerRecords): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(
    Object.entries(records).map(([name, { state }]) => [
      name,
      state.kind === 'terminated' ? state.exitCode : undefined,
    ]),
  );

test('interruptedRecords() takes no success from a container that was stopped', () => {
  const before = { init: ended(0), polite: running, rude: running, stuck: running };
  const after = { init: ended(0), polite: ended(0), rude: ended(143), stuck: running };
  const records = interruptedRecords(before, after);
  assert.deepEqual(codes(records), { init: 0, polite: 137, rude: 143, stuck: undefined });
  const { polite } = records;
  assert.equal(
    polite?.state.kind === 'terminated' && polite.state.reason,
    'ContainerStatusUnknown',
  );
});
