import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointAddress, EndpointSubset, Endpoints } from '../../kinds/endpoints/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { examplePort } from '../../kinds/service/example.ts';
import { exampleBackend, selectingService } from '../../kinds/service/example-backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { desiredEndpoints, isOrphan } from './desired.ts';

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
const initPort = (restartPolicy?: 'Always') => ({
  name: 'i',
  image: 'i',
  ports: [{ name: 'web', containerPort: 7070 }],
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});
const withPort = (name: string, containerPort: number, ip: string): Pod =>
  exampleBackend(name, {
    ips: [ip],
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }] },
  });

const cases: readonly Case[] = [
  { title: 'is empty without pods (EPC-01)', pods: [], subsets: [] },
  {
    title: 'lists ready and other pods apart (EPC-04)',
    pods: [exampleBackend('a'), exampleBackend('b', { ips: ['10.1.0.2'], ready: false })],
    subsets: [{ addresses: [address('a')], notReadyAddresses: [address('b', '10.1.0.2')], ports }],
  },
  {
    title: 'publishes what is not ready where asked to (EPC-04)',
    service: publishing,
    pods: [exampleBackend('a', { ready: false })],
    subsets: [{ addresses: [address('a')], ports }],
  },
  {
    title: 'leaves out terminating and finished pods, and those without address (EPC-03)',
    pods: [
      exampleBackend('a', { metadata: { deletionTimestamp } }),
      exampleBackend('b', { status: { phase: 'Failed' } }),
      exampleBackend('c', { ips: [] }),
    ],
    subsets: [],
  },
  {
    title: 'keeps terminating pods where all are published, but no finished ones (EPC-03)',
    service: publishing,
    pods: [
      exampleBackend('a', { ready: false, metadata: { deletionTimestamp } }),
      exampleBackend('b', { status: { phase: 'Succeeded' } }),
    ],
    subsets: [{ addresses: [address('a')], ports }],
  },
  {
    title: 'does not ask for the phase but for the condition (EPC-04)',
    pods: [
      exampleBackend('a', { status: { phase: 'Pending' } }),
      exampleBackend('b', { ips: ['10.1.0.2'], status: { conditions: [] } }),
    ],
    subsets: [{ addresses: [address('a')], notReadyAddresses: [address('b', '10.1.0.2')], ports }],
  },
  {
    title: 'takes pods on the network of their hosts like any other (EPC-05)',
    pods: [exampleBackend('a', { spec: { nodeName: 'n1', hostNetwork: true } })],
    subsets: [{ addresses: [address('a')], ports }],
  },
  {
    title: 'has no host name under another subdomain, or without one (EPC-05)',
    pods: [
      exampleBackend('a', { spec: { nodeName: 'n1', hostname: 'web-0', subdomain: 'other' } }),
      exampleBackend('b', { ips: ['10.1.0.2'], spec: { nodeName: 'n1', hostname: 'web-1' } }),
    ],
    subsets: [{ addresses: [address('a'), address('b', '10.1.0.2')], ports }],
  },
  {
    title: 'has a host name for pods in the domain of the service (EPC-05)',
    pods: [exampleBackend('a', { spec: { hostname: 'web-0', subdomain: 'web' } })],
    subsets: [{ addresses: [address('a', '10.1.0.1', { hostname: 'web-0' })], ports }],
  },
  {
    title: 'groups by the numbers behind a named port, and skips pods that lack it (EPC-06)',
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
    title: 'finds the name in a sidecar, but not in an init container that ends (EPC-06)',
    service: named,
    pods: [
      exampleBackend('a', { spec: { nodeName: 'n1', initContainers: [initPort('Always')] } }),
      exampleBackend('b', { spec: { nodeName: 'n1', initContainers: [initPort()] } }),
    ],
    subsets: [
      {
        addresses: [address('a')],
        ports: [{ name: 'http', port: 7070, protocol: 'TCP', appProtocol: 'http' }],
      },
    ],
  },
  {
    title: 'does not take a port of another protocol for the named one (EPC-06)',
    service: selectingService({
      spec: { ports: [examplePort({ targetPort: 'web', protocol: 'UDP' })] },
    }),
    pods: [withPort('a', 8080, '10.1.0.1')],
    subsets: [],
  },
  {
    title: 'lists a pod for the ports that it has (EPC-06)',
    service: selectingService({
      spec: {
        ports: [
          examplePort({ name: 'http', targetPort: 'web' }),
          examplePort({ name: 'metrics', port: 9090, targetPort: 'metrics' }),
          examplePort({ name: 'fixed', port: 81, targetPort: 8181, protocol: 'UDP' }),
        ],
      },
    }),
    pods: [withPort('a', 8080, '10.1.0.1')],
    subsets: [
      {
        addresses: [address('a')],
        ports: [
          { name: 'fixed', port: 8181, protocol: 'UDP' },
          { name: 'http', port: 8080, protocol: 'TCP' },
        ],
      },
    ],
  },
  {
    title: 'sorts addresses as text (EPC-07)',
    pods: ['10.1.0.9', '10.1.0.10', '10.1.0.100'].map((ip) => exampleBackend(ip, { ips: [ip] })),
    subsets: [
      {
        addresses: ['10.1.0.10', '10.1.0.100', '10.1.0.9'].map((ip) => address(ip, ip)),
        ports,
      },
    ],
  },
  {
    title: 'has nothing for a service without ports that is not headless (EPC-08)',
    service: selectingService({ spec: { ports: [] } }),
    pods: [exampleBackend('a')],
    subsets: [],
  },
  {
    title: 'has no ports for a headless service without ports (EPC-08)',
    service: selectingService({ spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [] } }),
    pods: [exampleBackend('a')],
    subsets: [{ addresses: [address('a')] }],
  },
  {
    title: 'takes addresses of the first family only (DST-16, DST-17)',
    service: selectingService({ spec: { ipFamilies: ['IPv6', 'IPv4'] } }),
    pods: [exampleBackend('a', { ips: ['10.1.0.1', 'fd00::1'] }), exampleBackend('b')],
    subsets: [{ addresses: [address('a', 'fd00::1')], ports }],
  },
  {
    title: 'spells addresses in one way (EPC-05)',
    service: selectingService({ spec: { ipFamilies: ['IPv6'] } }),
    pods: [exampleBackend('a', { ips: ['FD00:0::00A'] })],
    subsets: [{ addresses: [address('a', 'fd00::a')], ports }],
  },
  {
    title: 'uses the family of the cluster IP without ipFamilies',
    service: selectingService({ spec: { ipFamilies: [], clusterIP: 'fd00:96::1' } }),
    pods: [exampleBackend('a', { ips: ['10.1.0.1', 'fd00::1'] })],
    subsets: [{ addresses: [address('a', 'fd00::1')], ports }],
  },
  {
    title: 'omits the node of an unscheduled pod',
    pods: [exampleBackend('a', { spec: { nodeName: '' } })],
    subsets: [{ addresses: [{ ip: '10.1.0.1', targetRef: address('a').targetRef }], ports }],
  },
];

for (const { title, service = selectingService(), pods, subsets } of cases) {
  test(`desiredEndpoints() ${title}`, () => {
    assert.deepEqual(desiredEndpoints(service, pods).subsets, subsets);
  });
}

test('desiredEndpoints() has a subset for each number behind a named port (EPC-06, EPC-07)', () => {
  const { subsets } = desiredEndpoints(named, [
    withPort('a', 8080, '10.1.0.1'),
    withPort('b', 9090, '10.1.0.2'),
  ]);
  assert.deepEqual(subsets.map((one) => one.ports?.[0]?.port).sort(), [8080, 9090]);
});

test('desiredEndpoints() copies labels, says who made it, and whether the service is headless (EPC-10)', () => {
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

const leftover = (annotations = {}): Endpoints => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'a', annotations },
});

test('isOrphan() is false with a Service, and for leader elections (EPC-13)', () => {
  assert.equal(isOrphan(leftover(), new Set<string>()), true);
  assert.equal(isOrphan(leftover(), new Set(['a/web'])), false);
  assert.equal(isOrphan(leftover(), new Set(['b/web'])), true);
  const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
  assert.equal(isOrphan(leftover(leader), new Set<string>()), false);
});
