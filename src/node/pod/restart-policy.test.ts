import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { BackOff } from './container-record.ts';
import { durationText, nextBackOff, restartAt, shouldRestart } from './restart-policy.ts';

test('restartAt() delays restarts by 10 s to 5 min, counted from the termination', () => {
  let backOff: BackOff | undefined;
  let now = 0;
  const waits: string[] = [];
  for (let start = 0; start < 8; start += 1) {
    const at = restartAt(backOff, now);
    waits.push(durationText(at - now));
    now = at;
    backOff = nextBackOff(backOff, now);
  }
  assert.deepEqual(waits, ['0s', '10s', '20s', '40s', '1m20s', '2m40s', '5m0s', '5m0s']);
});

test('restartAt() resets the back-off after ten minutes without a restart', () => {
  const backOff = { delayMs: 160_000, updatedAt: 0 };
  assert.equal(restartAt(backOff, 600_001), 600_001);
  assert.equal(nextBackOff(backOff, 600_001).delayMs, 10_000);
  assert.equal(restartAt(backOff, 600_000), 760_000);
});

const cases: readonly (readonly [
  string,
  object,
  'containers' | 'initContainers',
  number,
  boolean,
])[] = [
  ['restarts after success with Always', {}, 'containers', 0, true],
  [
    'does not restart after success with OnFailure',
    { restartPolicy: 'OnFailure' },
    'containers',
    0,
    false,
  ],
  ['restarts after failure with OnFailure', { restartPolicy: 'OnFailure' }, 'containers', 1, true],
  ['does not restart after failure with Never', { restartPolicy: 'Never' }, 'containers', 1, false],
  ['does not restart an init container that succeeded', {}, 'initContainers', 0, false],
  ['restarts an init container that failed', {}, 'initContainers', 1, true],
  [
    'does not restart a failed init container with Never',
    { restartPolicy: 'Never' },
    'initContainers',
    1,
    false,
  ],
];
for (const [name, spec, list, exitCode, expected] of cases) {
  test(`shouldRestart() ${name}`, () => {
    const pod = examplePod({
      spec: { ...spec, containers: [{ name: 'app' }], initContainers: [{ name: 'first' }] },
    });
    const [container] = pod.spec[list] ?? [];
    assert.ok(container !== undefined);
    assert.equal(shouldRestart(pod, container, { exitCode }), expected);
  });
}

test('shouldRestart() always restarts a sidecar, and follows restartPolicyRules', () => {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
  const pod = examplePod({
    spec: {
      restartPolicy: 'Never',
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
      containers: [{ name: 'app', restartPolicy: 'Never', restartPolicyRules: [rule] }],
    },
  });
  const [sidecar] = pod.spec.initContainers ?? [];
  const [app] = pod.spec.containers ?? [];
  assert.ok(sidecar !== undefined && app !== undefined);
  assert.equal(shouldRestart(pod, sidecar, { exitCode: 0 }), true);
  assert.equal(shouldRestart(pod, app, { exitCode: 42 }), true);
  assert.equal(shouldRestart(pod, app, { exitCode: 1 }), false);
});
