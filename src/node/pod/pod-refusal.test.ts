import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { podRefusal } from './pod-refusal.ts';

const panic = { securityContext: { sysctls: [{ name: 'kernel.panic', value: '1' }] } };

const cases: readonly (readonly [string, object, string | undefined])[] = [
  ['a pod for any system', {}, undefined],
  ['a pod for Linux', { os: { name: 'linux' } }, undefined],
  ['a pod for Windows', { os: { name: 'windows' } }, 'PodOSNotSupported'],
  ['a pod with a setting of the machine', panic, 'SysctlForbidden'],
];

for (const [name, spec, reason] of cases) {
  test(`podRefusal() of ${name}`, () =>
    assert.equal(podRefusal({ metadata: {}, spec } as Pod)?.reason, reason));
}
