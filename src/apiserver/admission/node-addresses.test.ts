import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { KubeObject } from '../../meta/object.ts';
import { sourceAddressKey } from '../access/source-address.ts';
import { outcomeOf } from './example.ts';
import { nodeRestriction } from './node-restriction.ts';

function node(name: string, hosts: readonly string[], port = 10250): KubeObject {
  const status = {
    addresses: hosts.map((address) => ({ type: 'InternalIP', address })),
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  return { kind: 'Node', apiVersion: 'v1', metadata: { name }, ...{ spec: {}, status } };
}

type Said = {
  readonly before?: readonly string[];
  readonly after: readonly string[];
  readonly port?: number;
  /** Where the node speaks from. */
  readonly source?: string;
};

/** What comes after "it is", or all of a refusal of another form; empty when there is none. */
function refusal({ before = [], after, port, source }: Said): string {
  const outcome = outcomeOf(nodeRestriction, {
    definition: nodeDefinition,
    user: {
      ...{ name: 'system:node:n1', groups: ['system:nodes'] },
      ...(source === undefined ? {} : { extra: { [sourceAddressKey]: [source] } }),
    },
    operation: 'update',
    subresource: 'status',
    before: node('n1', before),
    after: node('n1', after, port),
    objects: [node('n2', ['192.0.2.22'])],
  });
  if (typeof outcome !== 'string') return '';
  return /: it is (.*)$/.exec(outcome)?.[1] ?? outcome.replace(/^.* is forbidden: /, '');
}

const unreachable = 'not one at which others reach a node';
const cases: readonly (readonly [string, Said, string])[] = [
  ['its own', { after: ['192.0.2.21', 'fd00::21', 'n1.example'] }, ''],
  ['loopback', { after: ['127.0.0.1'], source: '192.0.2.21' }, unreachable],
  ['the link', { after: ['fe80::1'] }, unreachable],
  ['a Service', { after: ['::ffff:a60:1'] }, 'in a range of Services'],
  ['another node', { after: ['192.0.2.22'] }, 'of another node'],
  ['the name of another node', { after: ['n2'], source: '192.0.2.22' }, 'of another node'],
  ['the name of another node in capitals', { after: ['N2.'] }, 'of another node'],
  ['its own name', { after: ['n1'] }, ''],
  ['loopback as one number', { after: ['2130706433'] }, unreachable],
  ['loopback in hexadecimal digits', { after: ['0x7f000001'] }, unreachable],
  ['loopback in short', { after: ['127.1'] }, unreachable],
  ['the link of an interface', { after: ['fe80::1%eth0'] }, unreachable],
  ['another node in IPv6 clothes', { after: ['::ffff:192.0.2.22'] }, 'of another node'],
  ['another node, on whose machine it is', { after: ['192.0.2.22'], source: '192.0.2.22' }, ''],
  ['what it had before', { before: ['192.0.2.22'], after: ['192.0.2.22'] }, ''],
  ['the server', { after: ['192.0.2.1'], source: '192.0.2.21' }, 'of an API server'],
  ['the server by name', { after: ['API.example.'] }, 'of an API server'],
  ['the server, on whose machine it is', { after: ['192.0.2.1'], source: '192.0.2.1' }, ''],
  ['the server, spoken to by loopback', { after: ['192.0.2.1'], source: '127.0.0.1' }, ''],
  [
    'the port of the server',
    { after: ['192.0.2.1'], source: '192.0.2.1', port: 6443 },
    'node "n1" is not allowed to set the port 6443: an API server listens there',
  ],
];
for (const [name, said, wanted] of cases) {
  test(`nodeAddressProblem() of a node that says it has ${name}`, () => {
    assert.equal(refusal(said), wanted);
  });
}

test('a node does not say which resource claims its pods have', () => {
  const pod = (status: object): KubeObject => ({
    ...examplePod({ spec: { nodeName: 'n1' } }),
    ...{ status },
  });
  const claims = (name: string) => [{ name: 'gpu', resourceClaimName: name }];
  const write = (after: object) =>
    outcomeOf(nodeRestriction, {
      definition: podDefinition,
      user: { name: 'system:node:n1', groups: ['system:nodes'] },
      ...{ operation: 'update', subresource: 'status' },
      before: pod({ resourceClaimStatuses: claims('a') }),
      after: pod(after),
    });
  assert.notEqual(typeof write({ resourceClaimStatuses: claims('a'), phase: 'Running' }), 'string');
  assert.match(
    String(write({ resourceClaimStatuses: claims('b') })),
    /node "n1" cannot update resource claim statues$/,
  );
  const extended = { resourceClaimName: 'x', requestMappings: [] };
  assert.match(
    String(write({ resourceClaimStatuses: claims('a'), extendedResourceClaimStatus: extended })),
    /cannot update extended resource claim status$/,
  );
});
