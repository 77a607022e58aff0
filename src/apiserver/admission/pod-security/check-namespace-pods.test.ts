import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../kinds/pod/types.ts';
import { type NamespaceCheck, warningsAboutPods } from './check-namespace-pods.ts';

const pod = (name: string, more: object = {}, controller?: string): Pod =>
  ({
    metadata: {
      name,
      ...(controller === undefined
        ? {}
        : { ownerReferences: [{ uid: controller, controller: true }] }),
    },
    spec: { containers: [{ name: 'c', image: 'i' }], ...more },
  }) as unknown as Pod;

const check = (pods: readonly Pod[], more: Partial<NamespaceCheck> = {}) =>
  warningsAboutPods({
    namespace: 'ns',
    enforce: { level: 'baseline', version: 'latest' },
    pods,
    isExempt: ({ spec }) => spec.runtimeClassName === 'exempt',
    clock: () => 0,
    pause: () => Promise.resolve(),
    ...more,
  });

const title =
  'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"';

test('warningsAboutPods() says nothing of good pods', async () => {
  assert.deepEqual(
    await check([pod('a'), pod('b', { hostPID: true, runtimeClassName: 'exempt' })]),
    [],
  );
});

test('warningsAboutPods() groups pods by what they violate', async () => {
  const pods = [
    pod('c', { hostPID: true }),
    pod('b', { hostPID: true }),
    pod('a', { hostPID: true }),
    pod('z', {
      hostNetwork: true,
      containers: [{ name: 'c', securityContext: { privileged: true } }],
    }),
  ];
  assert.deepEqual(await check(pods), [
    title,
    'a (and 2 other pods): host namespaces',
    'z: host namespaces, privileged',
  ]);
});

test('warningsAboutPods() stops when time is over, after one pod of each controller', async () => {
  let now = -600;
  const clock = (): number => {
    now += 600;
    return now;
  };
  const pods = [
    pod('a1', {}, 'a'),
    pod('a2', { hostPID: true }, 'a'),
    pod('b1', { hostNetwork: true }, 'b'),
  ];
  assert.deepEqual(await check(pods, { clock }), [
    'new PodSecurity enforce level only checked against the first 2 of 3 existing pods',
    title,
    'b1: host namespaces',
  ]);
});

test('warningsAboutPods() lets others run, and checks no more than its limit', async () => {
  let now = 0;
  let pauses = 0;
  const pods = Array.from({ length: 3001 }, (_, at) => pod(`p${at}`));
  const warnings = await check(pods, {
    clock: () => {
      now += 0.1;
      return now;
    },
    pause: async () => {
      pauses += 1;
    },
  });
  assert.ok(pauses > 10, String(pauses));
  assert.deepEqual(warnings, [
    'new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods',
  ]);
});
