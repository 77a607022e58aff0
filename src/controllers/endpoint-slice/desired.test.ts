import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { examplePort } from '../../kinds/service/example.ts';
import { exampleBackend, selectingService } from '../../kinds/service/example-backends.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import { desiredEndpoints, newSlice, serviceFamilies, sliceLabels } from './desired.ts';
import { exampleNode, httpPort } from './example.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const nodes = new Map([
  ['n1', exampleNode('n1')],
  ['n2', exampleNode('n2', { zone: 'zone-b' })],
]);

function desired(service: Service, pods: readonly Pod[], family: IPFamily = 'IPv4') {
  return desiredEndpoints({ service, pods, node: (name) => nodes.get(name), family });
}

function endpoint(name: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    addresses: ['10.1.0.1'],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
    nodeName: 'n1',
    ...more,
  };
}

const allTrue = { ready: true, serving: true, terminating: false };
const publishing = selectingService({ spec: { publishNotReadyAddresses: true } });

type Case = {
  readonly title: string;
  readonly service?: Service;
  readonly pod: Pod;
  readonly family?: IPFamily;
  readonly endpoints: readonly Endpoint[];
};

const cases: readonly Case[] = [
  { title: 'lists a ready pod (EPS-18)', pod: exampleBackend('a'), endpoints: [endpoint('a')] },
  {
    title: 'lists a pod that is not ready (EPS-19)',
    pod: exampleBackend('a', { ready: false }),
    endpoints: [
      endpoint('a', { conditions: { ready: false, serving: false, terminating: false } }),
    ],
  },
  {
    title: 'lists a terminating pod as serving but not ready (EPS-19, EPS-20)',
    pod: exampleBackend('a', { metadata: { deletionTimestamp } }),
    endpoints: [endpoint('a', { conditions: { ready: false, serving: true, terminating: true } })],
  },
  {
    title: 'lists a terminating pod that is not ready as not serving (EPS-19)',
    pod: exampleBackend('a', { ready: false, metadata: { deletionTimestamp } }),
    endpoints: [endpoint('a', { conditions: { ready: false, serving: false, terminating: true } })],
  },
  {
    title: 'publishes a pod without Ready condition as ready but not serving (EPS-19)',
    service: publishing,
    pod: exampleBackend('a', { status: { conditions: [] } }),
    endpoints: [endpoint('a', { conditions: { ready: true, serving: false, terminating: false } })],
  },
  {
    title: 'leaves out a terminating pod that has finished (EPS-20)',
    pod: exampleBackend('a', { metadata: { deletionTimestamp }, status: { phase: 'Succeeded' } }),
    endpoints: [],
  },
  {
    title: 'leaves out a pod without address, published or not (EPS-18)',
    service: publishing,
    pod: exampleBackend('a', { ips: [] }),
    endpoints: [],
  },
  {
    title: 'lists a pod with hostNetwork like any other (EPS-18)',
    pod: exampleBackend('a', { spec: { nodeName: 'n1', hostNetwork: true } }),
    endpoints: [endpoint('a')],
  },
  {
    title: 'publishes a terminating pod that does not serve as ready (EPS-19)',
    service: publishing,
    pod: exampleBackend('a', { ready: false, metadata: { deletionTimestamp } }),
    endpoints: [endpoint('a', { conditions: { ready: true, serving: false, terminating: true } })],
  },
  {
    title: 'leaves out a finished pod (EPS-20)',
    service: publishing,
    pod: exampleBackend('a', { status: { phase: 'Failed' } }),
    endpoints: [],
  },
  {
    title: 'sets the zone of the node (EPS-18)',
    pod: exampleBackend('a', { spec: { nodeName: 'n2' } }),
    endpoints: [endpoint('a', { nodeName: 'n2', zone: 'zone-b' })],
  },
  {
    title: 'lists a pod on an unknown node where all are published (EPS-22)',
    service: publishing,
    pod: exampleBackend('a', { spec: { nodeName: 'nowhere' } }),
    endpoints: [endpoint('a', { nodeName: 'nowhere' })],
  },
  {
    title: 'lists a pod on no node where all are published (EPS-22)',
    service: publishing,
    pod: exampleBackend('a', { spec: { nodeName: '' } }),
    endpoints: [
      { addresses: ['10.1.0.1'], conditions: allTrue, targetRef: endpoint('a').targetRef ?? {} },
    ],
  },
  {
    title: 'sets no hostname for another subdomain (EPS-18)',
    pod: exampleBackend('a', { spec: { nodeName: 'n1', hostname: 'web-0', subdomain: 'db' } }),
    endpoints: [endpoint('a')],
  },
  {
    title: 'sets the hostname of a pod whose subdomain is the Service (EPS-18)',
    pod: exampleBackend('a', { spec: { hostname: 'web-0', subdomain: 'web' } }),
    endpoints: [endpoint('a', { hostname: 'web-0' })],
  },
  {
    title: 'writes addresses in canonical form (EPS-18)',
    pod: exampleBackend('a', { ips: ['FD00:0::00A'] }),
    family: 'IPv6',
    endpoints: [endpoint('a', { addresses: ['fd00::a'] })],
  },
  {
    title: 'selects the addresses of the family (EPS-18, DST-15)',
    pod: exampleBackend('a', { ips: ['10.1.0.1', 'fd00::1'] }),
    family: 'IPv6',
    endpoints: [endpoint('a', { addresses: ['fd00::1'] })],
  },
  {
    title: 'leaves out a pod without an address of the family (DST-17)',
    pod: exampleBackend('a'),
    family: 'IPv6',
    endpoints: [],
  },
];

for (const { title, service = selectingService(), pod, family, endpoints } of cases) {
  test(`desiredEndpoints() ${title}`, () => {
    const { groups, podsWithoutNode } = desired(service, [pod], family);
    const listed = [...groups.values()].flatMap((group) => [...group.endpoints.values()]);
    assert.deepEqual(listed, endpoints);
    assert.deepEqual(podsWithoutNode, []);
  });
}

test('desiredEndpoints() returns pods whose node does not exist (EPS-22)', () => {
  const pods = [
    exampleBackend('a', { spec: { nodeName: 'nowhere' } }),
    exampleBackend('b', { spec: { nodeName: '' } }),
    exampleBackend('c'),
  ];
  const { groups, podsWithoutNode } = desired(selectingService(), pods);
  assert.deepEqual(podsWithoutNode, pods.slice(0, 2));
  assert.deepEqual(
    [...groups.values()].map(({ endpoints }) => endpoints.size),
    [1],
  );
});

function withPort(name: string, containerPort: number, ip: string): Pod {
  const container = { name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] };
  return exampleBackend(name, { ips: [ip], spec: { containers: [container] } });
}

test('desiredEndpoints() groups pods by port numbers (EPS-09, EPS-10)', () => {
  const service = selectingService({
    spec: {
      ports: [
        examplePort({ name: 'http', targetPort: 'web', appProtocol: 'http' }),
        examplePort({ name: 'fixed', port: 81, targetPort: 8181, protocol: 'UDP' }),
      ],
    },
  });
  const pods = [
    withPort('a', 8080, '10.1.0.1'),
    withPort('b', 9090, '10.1.0.2'),
    withPort('c', 8080, '10.1.0.3'),
    exampleBackend('d', { ips: ['10.1.0.4'] }),
  ];
  const groups = [...desired(service, pods).groups.values()].map(({ ports, endpoints }) => ({
    ports: ports.map(({ port }) => port).sort(),
    pods: [...endpoints.values()].map(({ targetRef }) => targetRef?.name).join(),
  }));
  assert.deepEqual(groups, [
    { ports: [8080, 8181], pods: 'a,c' },
    { ports: [8181, 9090], pods: 'b' },
    { ports: [8181], pods: 'd' },
  ]);
});

test('desiredEndpoints() keeps a pod without the named target port, without ports (EPS-10)', () => {
  const service = selectingService({ spec: { ports: [examplePort({ targetPort: 'web' })] } });
  const [group] = desired(service, [exampleBackend('a')]).groups.values();
  assert.deepEqual(group?.ports, []);
  assert.equal(group?.endpoints.size, 1);
});

const families: readonly { service: Service; want: readonly IPFamily[] }[] = [
  { service: selectingService(), want: ['IPv4'] },
  { service: selectingService({ spec: { ipFamilies: ['IPv6', 'IPv4'] } }), want: ['IPv6', 'IPv4'] },
  { service: selectingService({ spec: { ipFamilies: [], clusterIP: 'fd00::1' } }), want: ['IPv6'] },
  {
    service: selectingService({ spec: { ipFamilies: [], clusterIP: 'None' } }),
    want: ['IPv4', 'IPv6'],
  },
];

for (const { service, want } of families) {
  const { ipFamilies, clusterIP } = service.spec;
  test(`serviceFamilies() of [${ipFamilies}] and ${clusterIP} are ${want} (DST-15)`, () => {
    assert.deepEqual(serviceFamilies(service), want);
  });
}

test('sliceLabels() replaces reserved labels of the Service (EPS-06, EPS-07)', () => {
  const labels = {
    team: 'x',
    'kubernetes.io/service-name': 'fake',
    'endpointslice.kubernetes.io/managed-by': 'me',
    'service.kubernetes.io/headless': 'x',
  };
  const own = {
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  assert.deepEqual(sliceLabels(selectingService({ metadata: { labels } })), { team: 'x', ...own });
  assert.deepEqual(sliceLabels(selectingService({ spec: { clusterIP: 'None' } })), {
    'service.kubernetes.io/headless': '',
    ...own,
  });
});

test('newSlice() is owned by the service and lets the server choose a name (EPS-07)', () => {
  const service = selectingService();
  const slice = newSlice({ service, family: 'IPv6', ports: [httpPort], endpoints: [] });
  assert.deepEqual(slice.metadata, {
    generateName: 'web-',
    namespace: 'default',
    labels: sliceLabels(service),
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        name: 'web',
        uid: 'uid-service',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
  assert.equal(slice.addressType, 'IPv6');
});
