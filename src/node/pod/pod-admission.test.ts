import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { podRefusal, podSysctls, type SysctlVerdict } from './pod-admission.ts';

const port = { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' };
const shm = { name: 'kernel/shm_rmid_forced', value: '1' };

const cases: readonly (readonly [string, object, SysctlVerdict])[] = [
  ['a pod without sysctls', {}, { settings: [] }],
  [
    'safe sysctls, with dots or slashes',
    { securityContext: { sysctls: [port, shm] } },
    {
      settings: [
        { path: '/proc/sys/net/ipv4/ip_unprivileged_port_start', value: '0' },
        { path: '/proc/sys/kernel/shm_rmid_forced', value: '1' },
      ],
    },
  ],
  [
    'a sysctl that is not namespaced',
    { securityContext: { sysctls: [port, { name: 'kernel.panic', value: '1' }] } },
    { forbidden: 'forbidden sysctl: "kernel.panic" not allowlisted' },
  ],
  [
    'a safe network sysctl with hostNetwork',
    { hostNetwork: true, securityContext: { sysctls: [port] } },
    { forbidden: `forbidden sysctl: "${port.name}" not allowed with host net/ipc enabled` },
  ],
  [
    'a path with ..',
    { securityContext: { sysctls: [{ name: 'net/../kernel/panic', value: '1' }] } },
    { forbidden: 'forbidden sysctl: "net....kernel.panic" not allowlisted' },
  ],
];

for (const [name, spec, expected] of cases) {
  test(`podSysctls() of ${name}`, () =>
    assert.deepEqual(podSysctls({ metadata: {}, spec } as Pod), expected));
}

const panic = { securityContext: { sysctls: [{ name: 'kernel.panic', value: '1' }] } };

const refusals: readonly (readonly [string, object, string | undefined])[] = [
  ['a pod for any system', {}, undefined],
  ['a pod for Linux', { os: { name: 'linux' } }, undefined],
  ['a pod for Windows', { os: { name: 'windows' } }, 'PodOSNotSupported'],
  ['a pod with an unsafe sysctl', panic, 'SysctlForbidden'],
];

for (const [name, spec, reason] of refusals) {
  test(`podRefusal() of ${name}`, () =>
    assert.equal(podRefusal({ metadata: {}, spec } as Pod)?.reason, reason));
}
