import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { endpointSliceDefinition } from './definition.ts';
import { type EndpointSlice, endpointSliceSchema } from './types.ts';

function slice(addressType: string, address: string, manager?: string): EndpointSlice {
  const metadata =
    manager === undefined
      ? {}
      : { labels: { 'endpointslice.kubernetes.io/managed-by': `${manager}.k8s.io` } };
  const endpoints = [{ addresses: [address] }];
  const { object } = decode(endpointSliceSchema, { metadata, addressType, endpoints });
  return object as unknown as EndpointSlice;
}

test('EndpointSlice is namespaced, without short names and subresources (EPS-01)', () => {
  const { group, version, namespaced, shortNames, subresources } = endpointSliceDefinition;
  assert.deepEqual([group, version, namespaced], ['discovery.k8s.io', 'v1', true]);
  assert.deepEqual([shortNames, subresources], [undefined, undefined]);
});

const fqdn = 'spec.addressType: FQDN endpoints are deprecated';
const loose =
  'endpoints[0].addresses[0]: IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")';
const zeros =
  'endpoints[0].addresses[0]: non-standard IP address "010.1.0.1" will be considered invalid in a future Kubernetes release: use "10.1.0.1"';
const cases: readonly [string, EndpointSlice, readonly string[], readonly string[]][] = [
  ['IPv4', slice('IPv4', '10.1.0.1'), [], []],
  ['names, when they are made', slice('FQDN', 'web.example'), [fqdn], []],
  ['names that look like an address', slice('FQDN', '010.1.0.1'), [fqdn, zeros], [zeros]],
  ['loose spelling', slice('IPv6', 'FD00::A'), [loose], [loose]],
  ['loose spelling of another program', slice('IPv6', 'FD00::A', 'me'), [loose], [loose]],
  ['what the controller writes', slice('IPv6', 'FD00::A', 'endpointslice-controller'), [], []],
  [
    'what the mirroring controller writes',
    slice('IPv6', 'FD00::A', 'endpointslicemirroring-controller'),
    [],
    [],
  ],
];

for (const [name, object, onCreate, onUpdate] of cases) {
  test(`warnings of slices about ${name} (EPS-01)`, () => {
    const { create, update } = endpointSliceDefinition;
    assert.deepEqual(create.warnOnCreate?.(object), onCreate);
    assert.deepEqual(update.warnOnUpdate?.(object, object), onUpdate);
  });
}

test("decoding a slice names Go's types (EPS-01)", () => {
  const into = (field: string, type: string): string =>
    `json: cannot unmarshal number into Go struct field ${field} of type ${type}`;
  assert.equal(
    decode(endpointSliceSchema, { addressType: 4 }).error,
    into('EndpointSlice.addressType', 'v1.AddressType'),
  );
  assert.equal(
    decode(endpointSliceSchema, { addressType: 'IPv4', ports: [{ protocol: 6 }] }).error,
    into('EndpointPort.ports.protocol', 'v1.Protocol'),
  );
});
