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
  ['an empty slice (EPS-03)', slice({}), []],
  ['a missing address type (EPS-01)', slice({ addressType: '' }), ['addressType: Required value']],
  [
    'an unknown address type, alone (EPS-01)',
    withAddress('whatever', 'IP'),
    ['addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  [
    'an endpoint without addresses (EPS-03)',
    slice({ endpoints: [{}] }),
    ['endpoints[0].addresses: Required value: must contain at least 1 address'],
  ],
  [
    'too many addresses (EPS-02)',
    slice({ endpoints: [{ addresses: Array(101).fill('10.1.0.1') }] }),
    ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  ],
  [
    'too many endpoints, alone (EPS-02)',
    slice({ endpoints: Array(1001).fill({ addresses: ['x'] }) }),
    ['endpoints: Too many: 1001: must have at most 1000 items'],
  ],
  [
    'the other family (EPS-03)',
    withAddress('fd00::1'),
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    'a malformed address, once (EPS-03)',
    withAddress('x', 'IPv6'),
    [`${address} "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`],
  ],
  [
    'a name of one label (EPS-01)',
    withAddress('web', 'FQDN'),
    [`${address} "web": should be a domain with at least two segments separated by dots`],
  ],
  ['a name with a last dot (EPS-01)', withAddress('web.example.', 'FQDN'), []],
  [
    'an empty name (EPS-01)',
    withAddress('', 'FQDN'),
    ['endpoints[0].addresses[0]: Required value'],
  ],
  ['any zone (EPS-18)', withEndpoint({ zone: 'Not a zone!' }), []],
  [
    'too many zone hints (EPS-02)',
    withEndpoint({ hints: { forZones: names(9, 'z') } }),
    ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  ],
  [
    'too many zone hints, which hide those of nodes (EPS-02)',
    withEndpoint({ hints: { forZones: names(9, 'z'), forNodes: names(9, 'n') } }),
    ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  ],
  [
    'repeated node hints (EPS-02)',
    withEndpoint({ hints: { forNodes: [{ name: 'n' }, { name: 'n' }] } }),
    ['endpoints[0].hints.forNodes[1].name: Duplicate value: "n"'],
  ],
  [
    'too many node hints (EPS-02)',
    withEndpoint({ hints: { forNodes: names(9, 'n') } }),
    ['endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items'],
  ],
  ['as many hints as may be (EPS-02)', withEndpoint({ hints: { forZones: names(8, 'z') } }), []],
  [
    'too many ports, alone (EPS-02)',
    slice({ ports: Array(20_001).fill({ port: 1 }) }),
    ['ports: Too many: 20001: must have at most 20000 items'],
  ],
  ['as many ports as may be (EPS-02)', slice({ ports: names(20_000, 'p') }), []],
  [
    'as many addresses as may be (EPS-02)',
    slice({ endpoints: [{ addresses: Array(100).fill('10.1.0.1') }] }),
    [],
  ],
  [
    'loopback (EPS-03)',
    withAddress('127.0.0.1'),
    [`${address} "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`],
  ],
  [
    'link-local (EPS-03)',
    withAddress('fe80::1', 'IPv6'),
    [`${address} "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`],
  ],
  [
    'unspecified (EPS-03)',
    withAddress('::', 'IPv6'),
    [`${address} "::": may not be unspecified (::)`],
  ],
  ['a port without number, which means all (EPS-04)', slice({ ports: [{ name: 'a' }] }), []],
  [
    'a port name that is no label (EPS-04)',
    slice({ ports: [{ name: 'a.b', port: 1 }] }),
    ['ports[0].name: Invalid value: "a.b": must not contain dots'],
  ],
  ['any port number (EPS-04)', slice({ ports: [{ port: -1 }] }), []],
  [
    'repeated port names (EPS-04)',
    slice({ ports: [{ port: 1 }, { port: 2 }] }),
    ['ports[1].name: Duplicate value: ""'],
  ],
  [
    'an empty protocol (EPS-04)',
    slice({ ports: [{ protocol: '' }] }),
    ['ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"'],
  ],
];

for (const [name, object, want] of cases) {
  test(`validateSliceCreate() of ${name}`, () => {
    assert.deepEqual(validateSliceCreate(object).map(errorText), want);
  });
}

test('validateSliceUpdate() keeps the address type (EPS-01)', () => {
  const after = slice({ addressType: 'IPv6' });
  assert.deepEqual(validateSliceUpdate(slice({}), after).map(errorText), [
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test('validateSliceUpdate() accepts a stored address that is not canonical (EPS-03)', () => {
  const stored = withAddress('010.1.0.1');
  assert.deepEqual(validateSliceUpdate(stored, stored), []);
});
