import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { ContainerRecord, ContainerRecords } from './container-record.ts';
import { interruptedRecords, recoverRecords } from './restart-records.ts';

const time = '2026-01-01T00:00:00Z';
const at = Date.parse(time);
const base = { ready: true, restartCount: 2, image: 'a', imageID: '', lastState: {} };

test('recoverRecords() keeps terminated containers, and treats running ones as lost', () => {
  const ended = { exitCode: 0, reason: 'Completed', startedAt: time, finishedAt: time };
  const records = recoverRecords(
    examplePod({
      status: {
        initContainerStatuses: [{ ...base, name: 'first', state: { terminated: ended } }],
        containerStatuses: [
          {
            ...base,
            name: 'app',
            state: { running: { startedAt: time } },
            containerID: 'process://x',
          },
          { ...base, name: 'new', state: { waiting: { reason: 'ContainerCreating' } } },
          { ...base, name: 'loop', state: { waiting: {} }, lastState: { terminated: ended } },
        ],
        ephemeralContainerStatuses: [{ ...base, name: 'debug', state: { terminated: ended } }],
      },
    }),
    at + 1000,
  );
  assert.deepEqual(Object.keys(records), ['first', 'app', 'loop', 'debug']);
  assert.deepEqual(records.first?.state, {
    kind: 'terminated',
    exitCode: 0,
    reason: 'Completed',
    startedAt: at,
    finishedAt: at,
  });
  assert.equal(records.app?.restartCount, 2);
  assert.deepEqual(
    records.app?.state.kind === 'terminated' && [
      records.app.state.exitCode,
      records.app.state.finishedAt,
    ],
    [137, at + 1000],
  );
  assert.equal(records.loop?.state.kind, 'terminated');
});

const stopped = { restartCount: 0, isStarted: false, isReady: false };
const running: ContainerRecord = { ...stopped, state: { kind: 'running', id: 'a', startedAt: 1 } };
const terminated = (exitCode: number): ContainerRecord => ({
  ...stopped,
  state: { kind: 'terminated', exitCode, reason: 'Any', startedAt: 1, finishedAt: 2 },
});

const codes = (records: ContainerRecords): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(
    Object.entries(records).map(([name, { state }]) => [
      name,
      state.kind === 'terminated' ? state.exitCode : undefined,
    ]),
  );

test('interruptedRecords() replaces exit code 0 of a container that was stopped', () => {
  const before = { init: terminated(0), polite: running, rude: running, stuck: running };
  const after = {
    init: terminated(0),
    polite: terminated(0),
    rude: terminated(143),
    stuck: running,
  };
  const records = interruptedRecords(before, after);
  assert.deepEqual(codes(records), { init: 0, polite: 137, rude: 143, stuck: undefined });
  const { polite } = records;
  assert.equal(
    polite?.state.kind === 'terminated' && polite.state.reason,
    'ContainerStatusUnknown',
  );
});
