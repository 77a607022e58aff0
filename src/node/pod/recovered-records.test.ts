import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import { recoverRecords } from './recovered-records.ts';

const time = '2026-01-01T00:00:00Z';
const at = Date.parse(time);
const base = { ready: true, restartCount: 2, image: 'a', imageID: '', lastState: {} };

test('recoverRecords() keeps what has ended, and takes what ran for lost', () => {
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
