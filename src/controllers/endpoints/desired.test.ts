import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointAddress, EndpointSubset } from '../../kinds/endpoints/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { examplePort } from '../../kinds/service/example.ts';
import { exampleBackend, selectingService } from '../../kinds/service/example-backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { desiredEndpoints } from './desired.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';

function address(name: string, ip = '10.1.0.1', more: Partial<EndpointAddress> = {}) {
  const targetRef = { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` };
  return { ip, nodeName: 'n1', targetRef, ...more };
}
const ports = [{ port: 80, protocol: 'TCP' }];

type Case = {
  readonly title: string;
  readonly service?: Service;
  readonly pods: readonly Pod[];
  readonly subsets: readonly EndpointSubset[];
};

const publishing = selectingService({ spec: { publishNotReadyAddresses: true } });
const named = selectingService({
  spec: { ports: [examplePort({ name: 'http', targetPort: 'web', appProtocol: 'http' })] },
});
const withPort = (name: string, containerPort: number, ip: string): Pod =>
  exampleBackend(name, {
    ips: [ip],
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }] },
  });

const cases: readonly Case[] = [
  { title: 'is empty without pods', pods: [], subsets: [] },
  {
    title: 'lists ready and other pods apart',
    pods: [exampleBackend('a'), exampleBackend('b', { ips: ['10.1.0.2'], ready: false })],
    subsets: [{ addresses: [address('a')], notReadyAddresses: [address('b', '10.1.0.2')], ports }],
  },
  {
    title: 'publishes what is not ready where asked to',
    service: publishing,
    pods: [exampleBackend('a', { ready: false })],
    subsets: [{ addresses: [address('a')], ports }],
  },
  {
    title: 'leaves out terminating and finished pods',
    pods: [
      exampleBackend('a', { metadata: { deletionTimestamp } }),
      exampleBackend('b', { status: { phase: 'Failed' } }),
      exampleBackend('c', { ips: [] }),
    ],
    subsets: [],
  },
  {
    title: 'keeps terminating pods where all are published, but no finished ones',
    service: publishing,
    pods: [
      exampleBackend('a', { ready: false, metadata: { deletionTimestamp } }),
      exampleBackend('b', { status: { phase: 'Succeeded' } }),
    ],
    subsets: [{ addresses: [address('a')], ports }],
  },
  {
    title: 'has a host name for pods in the domain of the service',
    pods: [exampleBackend('a', { spec: { hostname: 'web-0', subdomain: 'web' } })],
    subsets: [{ addresses: [address('a', '10.1.0.1', { hostname: 'web-0' })], ports }],
  },
  {
    title: 'groups by the numbers behind a named port, and skips pods that lack it',
    service: named,
    pods: [withPort('a', 8080, '10.1.0.1'), withPort('b', 8080, '10.1.0.2'), exampleBackend('c')],
    subsets: [
      {
        addresses: [address('a'), address('b', '10.1.0.2')],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'http' }],
      },
    ],
  },
  {
    title: 'has no ports for a headless service without ports',
    service: selectingService({ spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [] } }),
    pods: [exampleBackend('a')],
    subsets: [{ addresses: [address('a')] }],
  },
  {
    title: 'takes addresses of the first family only',
    service: selectingService({ spec: { ipFamilies: ['IPv6', 'IPv4'] } }),
    pods: [exampleBackend('a', { ips: ['10.1.0.1', 'fd00::1'] }), exampleBackend('b')],
    subsets: [{ addresses: [address('a', 'fd00::1')], ports }],
  },
  {
    title: 'goes by the cluster IP where the service says no family',
    service: selectingService({ spec: { ipFamilies: [], clusterIP: 'fd00:96::1' } }),
    pods: [exampleBackend('a', { ips: ['10.1.0.1', 'fd00::1'] })],
    subsets: [{ addresses: [address('a', 'fd00::1')], ports }],
  },
  {
    title: 'names no node for a pod on none',
    pods: [exampleBackend('a', { spec: { nodeName: '' } })],
    subsets: [{ addresses: [{ ip: '10.1.0.1', targetRef: address('a').targetRef }], ports }],
  },
];

for (const { title, service = selectingService(), pods, subsets } of cases) {
  test(`desiredEndpoints() ${title}`, () => {
    assert.deepEqual(desiredEndpoints(service, pods).subsets, subsets);
  });
}

test('desiredEndpoints() has a subset for each number behind a named port', () => {
  const { subsets } = desiredEndpoints(named, [
    withPort('a', 8080, '10.1.0.1'),
    withPort('b', 9090, '10.1.0.2'),
  ]);
  assert.deepEqual(subsets.map((one) => one.ports?.[0]?.port).sort(), [8080, 9090]);
});

test('desiredEndpoints() copies labels, says who made it, and whether the service is headless', () => {
  const labels = {
    team: 'x',
    'service.kubernetes.io/headless': 'x',
    'endpoints.kubernetes.io/managed-by': 'me',
  };
  const plain = selectingService({ metadata: { labels } });
  assert.deepEqual(desiredEndpoints(plain, []).labels, {
    team: 'x',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  });
  const headless = selectingService({ spec: { clusterIP: 'None', clusterIPs: ['None'] } });
  assert.deepEqual(desiredEndpoints(headless, []).labels, {
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    'service.kubernetes.io/headless': '',
  });
});
