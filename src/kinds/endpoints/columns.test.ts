import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { endpointsColumns } from './columns.ts';
import { type Endpoints, endpointsSchema } from './types.ts';

const addresses = (...ips: readonly string[]) => ips.map((ip) => ({ ip }));
const cases: readonly [string, readonly unknown[], string][] = [
  ['no subsets', [], '<none>'],
  ['no ports', [{ addresses: addresses('10.1.0.1', 'fd00::1') }], '10.1.0.1,fd00::1'],
  ['only not ready', [{ notReadyAddresses: addresses('10.1.0.1'), ports: [{ port: 80 }] }], ''],
  ['IPv6', [{ addresses: addresses('fd00::1'), ports: [{ port: 80 }] }], '[fd00::1]:80'],
  [
    'more than three',
    [{ addresses: addresses('10.1.0.1', '10.1.0.2'), ports: [{ port: 80 }, { port: 81 }] }],
    '10.1.0.1:80,10.1.0.2:80,10.1.0.1:81 + 1 more...',
  ],
];

for (const [name, subsets, want] of cases) {
  test(`the Endpoints column shows ${name}`, () => {
    const { object } = decode(endpointsSchema, { metadata: { name: 'a' }, subsets });
    const column = endpointsColumns.find((c) => c.name === 'Endpoints');
    assert.equal(column?.cell(object as unknown as Endpoints, 0), want);
  });
}
