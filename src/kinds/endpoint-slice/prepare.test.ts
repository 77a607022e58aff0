import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { defaultSlice, prepareSlice, sliceGenerationChanges } from './prepare.ts';
import { type EndpointSlice, endpointSliceSchema } from './types.ts';

function slice(fields: Readonly<Record<string, unknown>>): EndpointSlice {
  const raw = { metadata: { name: 'a' }, addressType: 'IPv4', ...fields };
  return decode(endpointSliceSchema, raw).object as unknown as EndpointSlice;
}

test('defaultSlice() sets port names and protocol TCP, but keeps an empty protocol (EPS-04)', () => {
  const { ports } = defaultSlice(slice({ ports: [{ port: 80 }, { name: 'b', protocol: '' }] }));
  assert.deepEqual(ports, [
    { name: '', protocol: 'TCP', port: 80 },
    { name: 'b', protocol: '' },
  ]);
});

test('prepareSlice() drops the topology of v1beta1 (EPS-02)', () => {
  const endpoints = [{ addresses: ['10.1.0.1'], deprecatedTopology: { x: 'y' }, zone: 'z' }];
  assert.deepEqual(prepareSlice(slice({ endpoints })).endpoints, [
    { addresses: ['10.1.0.1'], conditions: {}, zone: 'z' },
  ]);
});

const before = slice({ endpoints: [{ addresses: ['10.1.0.1'] }] });
const changes: readonly [string, EndpointSlice, boolean][] = [
  ['nothing', before, false],
  ['annotations', { ...before, metadata: { name: 'a', annotations: { k: 'v' } } }, false],
  ['labels', { ...before, metadata: { name: 'a', labels: { k: 'v' } } }, true],
  ['endpoints', slice({ endpoints: [{ addresses: ['10.1.0.2'] }] }), true],
  ['ports', { ...before, ports: [{ port: 80 }] }, true],
];

for (const [name, after, want] of changes) {
  test(`the generation ${want ? 'changes' : 'stays'} with a change of ${name} (EPS-05)`, () => {
    assert.equal(sliceGenerationChanges(before, after), want);
  });
}
