import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { endpointSliceColumns } from './columns.ts';
import { defaultSlice } from './prepare.ts';
import { type EndpointSlice, endpointSliceSchema } from './types.ts';

const port = (number: number) => ({ name: `p${number}`, port: number });
const cases: readonly [string, unknown, readonly unknown[]][] = [
  ['nothing', {}, ['IPv4', '<unset>', '<unset>']],
  ['a port without number and name', { ports: [{}] }, ['IPv4', '<unset>', '<unset>']],
  ['a named port without number', { ports: [{ name: 'x' }] }, ['IPv4', 'x', '<unset>']],
  [
    'more than three',
    {
      ports: [1, 2, 3, 4].map(port),
      endpoints: [{ addresses: ['a', 'b'] }, { addresses: ['c', 'd', 'e'] }],
    },
    ['IPv4', '1,2,3 + 1 more...', 'a,b,c + 2 more...'],
  ],
];

for (const [name, fields, want] of cases) {
  test(`the table of slices shows ${name}`, () => {
    const raw = { metadata: { name: 's' }, addressType: 'IPv4', ...(fields as object) };
    const slice = defaultSlice(decode(endpointSliceSchema, raw).object as unknown as EndpointSlice);
    const cells = endpointSliceColumns.slice(1, 4).map(({ cell }) => cell(slice, 0));
    assert.deepEqual(cells, want);
  });
}
