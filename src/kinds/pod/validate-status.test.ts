import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import { preparePodStatusUpdate, preparePodUpdate } from './prepare.ts';
import { validatePodStatusUpdate } from './validate-status.ts';

const family = 'may specify no more than one IP for each IP family';
const cases: readonly [string, object, readonly string[]][] = [
  ['both families', { podIPs: [{ ip: 'fd00::1' }, { ip: '10.1.0.1' }] }, []],
  [
    'no address',
    { podIP: 'x' },
    [
      'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'one family twice',
    { podIPs: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }] },
    [`status.podIPs: Invalid value: [{"IP":"10.1.0.1"},{"IP":"10.1.0.2"}]: ${family}`],
  ],
  [
    'hostIPs without hostIP',
    { hostIPs: [{ ip: '10.0.0.1' }] },
    ['status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`'],
  ],
];

for (const [name, status, wanted] of cases) {
  test(`validatePodStatusUpdate() judges: ${name}`, () => {
    const errors = validatePodStatusUpdate(examplePod(), examplePod({ status }));
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('validatePodStatusUpdate() keeps a container that is not restarted ended', () => {
  const spec = { restartPolicy: 'Never' };
  const of = (state: object) =>
    examplePod({ spec, status: { containerStatuses: [{ name: 'app', state }] } });
  const errors = validatePodStatusUpdate(of({ terminated: { exitCode: 1 } }), of({ running: {} }));
  assert.deepEqual(errors.map(errorText), [
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ]);
});

test('preparePodStatusUpdate() takes status and labels, not spec', () => {
  const before = examplePod({ spec: { nodeName: 'n' }, status: { qosClass: 'BestEffort' } });
  const sent = examplePod({ metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } });
  const after = preparePodStatusUpdate(before, sent);
  assert.equal(after.spec.nodeName, 'n');
  assert.deepEqual(after.metadata.labels, { a: 'b' });
  assert.deepEqual(after.status, { phase: 'Running', qosClass: 'BestEffort' });
});

test('preparePodUpdate() leaves the status alone', () => {
  const before = examplePod({ status: { phase: 'Pending' } });
  const after = preparePodUpdate(before, examplePod({ status: { phase: 'Running' } }));
  assert.deepEqual(after.status, before.status);
});
