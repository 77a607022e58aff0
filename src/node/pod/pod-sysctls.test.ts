import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { podSysctls, type SysctlVerdict } from './pod-sysctls.ts';

const port = { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' };
const shm = { name: 'kernel/shm_rmid_forced', value: '1' };

const cases: readonly (readonly [string, object, SysctlVerdict])[] = [
  ['nothing', {}, { settings: [] }],
  [
    'safe ones, in either spelling',
    { securityContext: { sysctls: [port, shm] } },
    {
      settings: [
        { path: '/proc/sys/net/ipv4/ip_unprivileged_port_start', value: '0' },
        { path: '/proc/sys/kernel/shm_rmid_forced', value: '1' },
      ],
    },
  ],
  [
    "one that is the machine's",
    { securityContext: { sysctls: [port, { name: 'kernel.panic', value: '1' }] } },
    { forbidden: 'forbidden sysctl: "kernel.panic" not allowlisted' },
  ],
  [
    "a safe one on the node's network",
    { hostNetwork: true, securityContext: { sysctls: [port] } },
    { forbidden: `forbidden sysctl: "${port.name}" not allowed with host net/ipc enabled` },
  ],
  [
    'a way out of the directory',
    { securityContext: { sysctls: [{ name: 'net/../kernel/panic', value: '1' }] } },
    { forbidden: 'forbidden sysctl: "net....kernel.panic" not allowlisted' },
  ],
];

for (const [name, spec, expected] of cases) {
  test(`podSysctls() of ${name}`, () =>
    assert.deepEqual(podSysctls({ metadata: {}, spec } as Pod), expected));
}
