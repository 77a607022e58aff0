import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { defaultSlice } from './prepare.ts';
import { type EndpointSlice, endpointSliceSchema } from './types.ts';
import { validateSliceCreate, validateSliceUpdate } from './validate.ts';

function slice(fields: Readonly<Record<string, unknown>>): EndpointSlice {
  const raw = { metadata: { name: 'a' }, addressType: 'IPv4', ...fields };
  return defaultSlice(decode(endpointSliceSchema, raw).object as unknown as EndpointSlice);
}

const withAddress = (address: string, addressType = 'IPv4') =>
  slice({ addressType, endpoints: [{ addresses: [address] }] });
const withEndpoint = (fields: Readonly<Record<string, unknown>>) =>
  slice({ endpoints: [{ addresses: ['10.1.0.1'], ...fields }] });
const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}` }));

const address = 'endpoints[0].addresses[0]: Invalid value:';
const cases: readonly [string, EndpointSlice, readonly string[]][] = [
  ['an empty slice', slice({}), []],
  ['a missing address type', slice({ addressType: '' }), ['addressType: Required value']],
  [
    'an unknown address type, alone',
    withAddress('whatever', 'IP'),
    ['addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  [
    'an endpoint without addresses',
    slice({ endpoints: [{}] }),
    ['endpoints[0].addresses: Required value: must contain at least 1 address'],
  ],
  [
    'too many addresses',
    slice({ endpoints: [{ addresses: Array(101).fill('10.1.0.1') }] }),
    ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  ],
  [
    'too many endpoints, alone',
    slice({ endpoints: Array(1001).fill({ addresses: ['x'] }) }),
    ['endpoints: Too many: 1001: must have at most 1000 items'],
  ],
  [
    'the other family',
    withAddress('fd00::1'),
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    'a malformed address, once',
    withAddress('x', 'IPv6'),
    [`${address} "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`],
  ],
  [
    'a name of one label',
    withAddress('web', 'FQDN'),
    [`${address} "web": should be a domain with at least two segments separated by dots`],
  ],
  ['a name with a last dot', withAddress('web.example.', 'FQDN'), []],
  ['an empty name', withAddress('', 'FQDN'), ['endpoints[0].addresses[0]: Required value']],
  ['any zone', withEndpoint({ zone: 'Not a zone!' }), []],
  [
    'too many zone hints',
    withEndpoint({ hints: { forZones: names(9, 'z') } }),
    ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  ],
  [
    'repeated node hints',
    withEndpoint({ hints: { forNodes: [{ name: 'n' }, { name: 'n' }] } }),
    ['endpoints[0].hints.forNodes[1].name: Duplicate value: "n"'],
  ],
  ['any port number', slice({ ports: [{ port: -1 }] }), []],
  [
    'repeated port names',
    slice({ ports: [{ port: 1 }, { port: 2 }] }),
    ['ports[1].name: Duplicate value: ""'],
  ],
  [
    'an empty protocol',
    slice({ ports: [{ protocol: '' }] }),
    ['ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"'],
  ],
];

for (const [name, object, want] of cases) {
  test(`validateSliceCreate() judges ${name}`, () => {
    assert.deepEqual(validateSliceCreate(object).map(errorText), want);
  });
}

test('validateSliceUpdate() keeps the address type', () => {
  const after = slice({ addressType: 'IPv6' });
  assert.deepEqual(validateSliceUpdate(slice({}), after).map(errorText), [
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test('validateSliceUpdate() lets a loosely spelled address stay', () => {
  const stored = withAddress('010.1.0.1');
  assert.deepEqual(validateSliceUpdate(stored, stored), []);
});
