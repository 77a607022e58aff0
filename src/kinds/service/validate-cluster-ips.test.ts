import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { sentService } from './example.ts';
import type { ServiceSpec } from './types.ts';
import { validateClusterIPFields } from './validate-cluster-ips.ts';

const cases: readonly [string, Readonly<Record<string, unknown>>, readonly string[]][] = [
  ['accepts none at all', {}, []],
  [
    'wants the plural beside the singular',
    { clusterIP: '10.96.0.1' },
    ['spec.clusterIPs: Required value'],
  ],
  [
    'wants them to agree',
    { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.2'] },
    ['spec.clusterIPs: Invalid value: ["10.96.0.2"]: first value must match `clusterIP`'],
  ],
  [
    'takes None only alone',
    { clusterIP: 'None', clusterIPs: ['None', '10.96.0.1'] },
    [
      'spec.clusterIPs: Invalid value: ["None","10.96.0.1"]: \'None\' must be the first and only value',
    ],
  ],
  [
    'takes one address of each family',
    {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', '10.96.0.2'],
    },
    [
      'spec.clusterIPs: Invalid value: ["10.96.0.1","10.96.0.2"]: may specify no more than one IP for each IP family',
    ],
  ],
  [
    'takes two addresses',
    {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00::1', '10.96.0.2'],
    },
    [
      'spec.clusterIPs: Invalid value: ["10.96.0.1","fd00::1","10.96.0.2"]: may only hold up to 2 values',
    ],
  ],
  [
    'wants families and addresses in one order',
    {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      ipFamilies: ['IPv6'],
    },
    [
      'spec.clusterIPs[0]: Invalid value: "10.96.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
  ],
  [
    'reports no family errors when an address is malformed',
    {
      clusterIP: 'x',
      clusterIPs: ['x'],
      ipFamilies: ['IPv5', 'IPv5'],
      ipFamilyPolicy: 'Y',
    },
    [
      'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Duplicate value: "IPv5"',
      'spec.ipFamilyPolicy: Unsupported value: "Y": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
];

for (const [name, spec, wanted] of cases) {
  test(`validateClusterIPFields() ${name}`, () => {
    const service = sentService(spec as ServiceSpec);
    assert.deepEqual(validateClusterIPFields(service).map(errorText), wanted);
  });
}
