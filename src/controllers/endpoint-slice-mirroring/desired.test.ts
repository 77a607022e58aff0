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
    title: 'of a Service without selector',
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
    title: 'with skip-mirror true',
    object: endpoints([], { labels: skip('true') }),
    service: exampleService(),
    mirror: false,
  },
  {
    title: 'with skip-mirror false',
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
  test(`shouldMirror() Endpoints ${title}: ${mirror} (MIR-01, MIR-02)`, () => {
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
    title: 'sets only the condition ready (MIR-07)',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.2' }], ports }],
    groups: [{ family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1'), at('10.1.0.2', false)] }],
  },
  {
    title: 'splits families (MIR-03)',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }], ports }],
    groups: [
      { family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1')] },
      { family: 'IPv6', ports: [http], endpoints: [at('fd00::1')] },
    ],
  },
  {
    title: 'writes addresses in their canonical form (MIR-03)',
    subsets: [{ addresses: [{ ip: 'FD00:1:0::00A' }, { ip: '010.001.0.1' }], ports }],
    groups: [
      { family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1')] },
      { family: 'IPv6', ports: [http], endpoints: [at('fd00:1::a')] },
    ],
  },
  {
    title: 'copies hostname, node, target and ports (MIR-07)',
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
    title: 'keeps addresses without ports (MIR-03)',
    subsets: [{ addresses: [{ ip: '10.1.0.1' }] }],
    groups: [{ family: 'IPv4', ports: [], endpoints: [at('10.1.0.1')] }],
  },
  {
    title: 'joins subsets of one port, and the ports of one address (MIR-03)',
    subsets: [
      { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'a', port: 80 }] },
      { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'b', port: 81 }] },
    ],
    groups: [
      {
        family: 'IPv4',
        ports: [
          { name: 'b', protocol: 'TCP', port: 81 },
          { name: 'a', protocol: 'TCP', port: 80 },
        ],
        endpoints: [at('10.1.0.1')],
      },
    ],
  },
  {
    title: 'omits an empty hostname (MIR-07)',
    subsets: [{ addresses: [{ ip: '10.1.0.1', hostname: '' }], ports }],
    groups: [{ family: 'IPv4', ports: [http], endpoints: [at('10.1.0.1')] }],
  },
  {
    title: 'lists an address that is both ready and not ready as not ready (MIR-07)',
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

test('desiredMirror() skips and counts invalid addresses (MIR-05)', () => {
  const { groups, invalid, excess } = desiredMirror(
    endpoints([{ addresses: [{ ip: 'x' }, { ip: '10.1.0.1' }, { ip: '' }] }]),
    1000,
  );
  assert.deepEqual([invalid, excess], [2, 0]);
  const [group] = groups.values();
  assert.deepEqual([...(group?.endpoints.values() ?? [])], [at('10.1.0.1')]);
});

test('desiredMirror() stops at a thousand addresses of a subset, ready ones first (MIR-04)', () => {
  const subset = { addresses: many(990), notReadyAddresses: many(30, 2000), ports };
  const { groups, excess } = desiredMirror(endpoints([subset]), 1000);
  const [group] = groups.values();
  const ready = [...(group?.endpoints.values() ?? [])].filter((one) => one.conditions.ready);
  assert.deepEqual([group?.endpoints.size, ready.length, excess], [1000, 990, 20]);
});

test('desiredMirror() counts for each subset alone, and both families together (MIR-04)', () => {
  const six = Array.from({ length: 3 }, (_, i) => ({ ip: `fd00::${i + 1}` }));
  const subsets = [
    { addresses: [...many(3), ...six], ports },
    { addresses: many(2, 500), ports: [{ name: 'b', port: 81 }] },
  ];
  const { groups, excess } = desiredMirror(endpoints(subsets), 4);
  const sizes = [...groups.values()].map((one) => `${one.family} ${one.endpoints.size}`);
  assert.deepEqual(sizes.sort(), ['IPv4 2', 'IPv4 3', 'IPv6 1']);
  assert.equal(excess, 2);
});
