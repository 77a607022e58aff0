import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { PodSpec } from './pod-spec.ts';
import { validateSysctls } from './validate-sysctls.ts';

const form = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const rule = `must have at most 253 characters and match regex ${form}`;
const long = 'a'.repeat(254);

const cases: readonly (readonly [string, readonly string[], object, readonly string[]])[] = [
  ['nothing', [], {}, []],
  [
    'names with dots and slashes',
    ['kernel.shm_rmid_forced', 'net/ipv4/ip_local_port_range'],
    {},
    [],
  ],
  ['no empty name', [''], {}, ['s[0].name: Required value']],
  ['no capitals', ['net.Ipv4'], {}, [`s[0].name: Invalid value: "net.Ipv4": ${rule}`]],
  ['no dash first', ['-net'], {}, [`s[0].name: Invalid value: "-net": ${rule}`]],
  ['no long name', [long], {}, [`s[0].name: Invalid value: "${long}": ${rule}`]],
  ['each name once', ['net.a', 'net.a'], {}, ['s[1].name: Duplicate value: "net.a"']],
  [
    'no network of the node',
    ['net/core/x'],
    { hostNetwork: true },
    [`s[0].name: Invalid value: "net/core/x": may not be specified when 'hostNetwork' is true`],
  ],
  [
    'no IPC of the node',
    ['kernel.sem', 'net.a'],
    { hostIPC: true },
    [`s[0].name: Invalid value: "kernel.sem": may not be specified when 'hostIPC' is true`],
  ],
];
for (const [name, sysctls, host, expected] of cases) {
  test(`validateSysctls() takes ${name}`, () => {
    const securityContext = { sysctls: sysctls.map((one) => ({ name: one, value: '1' })) };
    const spec: PodSpec = { containers: [], ...host, securityContext };
    assert.deepEqual(validateSysctls(spec, 's').map(errorText), expected);
  });
}
