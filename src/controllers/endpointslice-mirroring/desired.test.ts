import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, SlicePort } from '../../kinds/endpoint-slice/types.ts';
import type { EndpointAddress, EndpointSubset, Endpoints } from '../../kinds/endpoints/types.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { desiredMirror, shouldMirror } from './desired.ts';

function endpoints(subsets: readonly EndpointSubset[], metadata: object = {}): Endpoints {
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    subsets,
  };
}

const plain = endpoints([]);
const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
const skip = (value: string) => ({ 'endpointslice.kubernetes.io/skip-mirror': value });

const questions = [
  {
    title: 'of a service without selector',
    object: plain,
    service: exampleService(),
    mirror: true,
  },
  {
    title: 'of an ExternalName service',
    object: plain,
    service: exampleService({ spec: { type: 'ExternalName' } }),
    mirror: true,
  },
  { title: 'of no service', object: plain, service: undefined, mirror: false },
  {
    title: 'of a service with selector',
    object: plain,
    service: exampleService({ spec: { selector: { a: 'b' } } }),
    mirror: false,
  },
  {
    title: 'that say true to skip-mirror',
    object: endpoints([], { labels: skip('true') }),
    service: exampleService(),
    mirror: false,
  },
  {
    title: 'that say false to skip-mirror',
    object: endpoints([], { labels: skip('false') }),
    service: exampleService(),
    mirror: true,
  },
  {
    title: 'of a leader election',
    object: endpoints([], { annotations: leader }),
    service: exampleService(),
    mirror: false,
  },
] as const;

for (const { title, object, service, mirror } of questions) {
  test(`shouldMirror() Endpoints ${title}: ${mirror}`, () => {
    assert.equal(shouldMirror(object, service), mirror);
  });
}

type Group = {
  readonly family: string;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
};

const http: SlicePort = { name: '', protocol: 'TCP', port: 80 };
const at = (address: string, ready = true): Endpoint => ({
  addresses: [address],
  conditions: { ready },
});
const ports = [{ port: 80 }];
const target = { kind: 'VM', name: 'v', namespace: 'other' };

const cases: readonly {
  title: string;
  subsets: readonly EndpointSubset[];
  groups: readonly Group[];
}[] = [
  { title: 'is nothing for no addresses', subsets: [], groups: [] },
  {
    title: 'says only whether an address is ready',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.2' }], ports }],
    groups: [{ family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1'), at('10.1.0.2', false)] }],
  },
  {
    title: 'splits families',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }], ports }],
    groups: [
      { family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1')] },
      { family: 'IPv6', ports: [http], endpoints: [at('fd00::1')] },
    ],
  },
  {
    title: 'writes addresses in their canonical form',
    subsets: [{ addresses: [{ ip: 'FD00:1:0::00A' }, { ip: '010.001.0.1' }], ports }],
    groups: [
      { family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1')] },
      { family: 'IPv6', ports: [http], endpoints: [at('fd00:1::a')] },
    ],
  },
  {
    title: 'carries over host name, node, target and ports',
    subsets: [
      {
        addresses: [{ ip: '10.1.0.1', hostname: 'web-0', nodeName: 'n', targetRef: target }],
        ports: [{ name: 'h2', port: 8443, protocol: 'UDP', appProtocol: 'kubernetes.io/h2c' }],
      },
    ],
    groups: [
      {
        family: 'IPv4',
        ports: [{ name: 'h2', protocol: 'UDP', port: 8443, appProtocol: 'kubernetes.io/h2c' }],
        endpoints: [{ ...at('10.1.0.1'), hostname: 'web-0', targetRef: target, nodeName: 'n' }],
      },
    ],
  },
  {
    title: 'keeps addresses without ports',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }] }],
    groups: [{ family: 'IPv4', ports: [], endpoints: [at('10.1.0.1')] }],
  },
  {
    title: 'takes an address that is ready and not ready for one that is not',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.1' }], ports }],
    groups: [{ family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1', false)] }],
  },
];

for (const { title, subsets, groups } of cases) {
  test(`desiredMirror() ${title}`, () => {
    const desired = desiredMirror(endpoints(subsets), 1000);
    const found = [...desired.groups.values()].map((group) => ({
      ...group,
      endpoints: [...group.endpoints.values()],
    }));
    assert.deepEqual(found, groups);
    assert.deepEqual([desired.invalid, desired.excess], [0, 0]);
  });
}

const many = (count: number, first = 0): readonly EndpointAddress[] =>
  Array.from({ length: count }, (_, i) => ({
    ip: `10.1.${(first + i) >> 8}.${(first + i) & 255}`,
  }));

test('desiredMirror() counts what is no address', () => {
  const { invalid, excess } = desiredMirror(
    endpoints([{ addresses: [{ ip: 'x' }, { ip: '10.1.0.1' }] }]),
    1000,
  );
  assert.deepEqual([invalid, excess], [1, 0]);
});

test('desiredMirror() stops at a thousand addresses of a subset, ready ones first', () => {
  const subset = { addresses: many(990), notReadyAddresses: many(30, 2000), ports };
  const { groups, excess } = desiredMirror(endpoints([subset]), 1000);
  const [group] = groups.values();
  const ready = [...(group?.endpoints.values() ?? [])].filter((one) => one.conditions.ready);
  assert.deepEqual([group?.endpoints.size, ready.length, excess], [1000, 990, 20]);
});
