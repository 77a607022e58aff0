import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { endpointsDefinition } from './definition.ts';
import { type Endpoints, endpointsSchema } from './types.ts';

function endpoints(ip: string, labels: Readonly<Record<string, string>> = {}): Endpoints {
  const subsets = [{ addresses: [{ ip }], notReadyAddresses: [{ ip }] }];
  const { object } = decode(endpointsSchema, { metadata: { labels }, subsets });
  return object as unknown as Endpoints;
}

const manager = 'endpoints.kubernetes.io/managed-by';
const loose = (field: string): string =>
  `subsets[0].${field}[0].ip: IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")`;
const both = [loose('addresses'), loose('notReadyAddresses')];
const cases: readonly [string, Endpoints, readonly string[]][] = [
  ['canonical addresses', endpoints('fd00::a'), []],
  ['loose spelling', endpoints('FD00::A'), both],
  ['loose spelling of another program', endpoints('FD00::A', { [manager]: 'me' }), both],
  ['what the controller writes', endpoints('FD00::A', { [manager]: 'endpoint-controller' }), []],
];

for (const [name, object, expected] of cases) {
  test(`warnings of Endpoints about ${name} (EPC-17)`, () => {
    const { create, update } = endpointsDefinition;
    assert.deepEqual(create.warnOnCreate?.(object), expected);
    assert.deepEqual(update.warnOnUpdate?.(object, object), expected);
  });
}

test("decoding Endpoints names Go's types (EPC-18)", () => {
  const into = (field: string, type: string): string =>
    `json: cannot unmarshal number into Go struct field ${field} of type ${type}`;
  const error = (subset: object): string | undefined =>
    decode(endpointsSchema, { subsets: [subset] }).error;
  assert.equal(
    error({ ports: [{ port: 80, protocol: 6 }] }),
    into('EndpointPort.subsets.ports.protocol', 'v1.Protocol'),
  );
  assert.equal(
    error({ addresses: [{ ip: '10.1.0.1', targetRef: { uid: 1 } }] }),
    into('ObjectReference.subsets.addresses.targetRef.uid', 'types.UID'),
  );
});
