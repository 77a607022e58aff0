import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePort, exampleService } from '../kinds/service/example.ts';
import type { Service, ServiceSpec } from '../kinds/service/types.ts';
import { desiredRelays, type RelaySituation, relayAnnotation } from './desired.ts';
import { loopbackFor } from './loopback.ts';

type Made = {
  readonly name?: string;
  readonly annotation?: string;
  readonly ingress?: NonNullable<Service['status']['loadBalancer']>['ingress'];
  readonly spec: ServiceSpec;
};

function service({ name = 'web', annotation, ingress, spec }: Made): Service {
  const annotations = annotation === undefined ? {} : { [relayAnnotation]: annotation };
  return exampleService({
    metadata: { name, namespace: 'default', annotations },
    spec,
    ...(ingress === undefined ? {} : { status: { loadBalancer: { ingress } } }),
  });
}

const http = examplePort({ name: 'http' });
const clusterIP = {
  clusterIP: '10.96.3.7',
  clusterIPs: ['10.96.3.7'],
  ipFamilies: ['IPv4'],
} as const satisfies ServiceSpec;

/** `TCP 127.0.0.1:30080 > lan 172.30.0.2:30080 node port` */
function lines(
  services: readonly Service[],
  more: Partial<RelaySituation> = {},
): readonly string[] {
  const situation = {
    nodeAddresses: ['172.30.0.2', 'fd30::2'],
    nodePortHost: '127.0.0.1',
    octets: new Map(),
    nodePortsOnLoopback: false,
    allServices: false,
    isForeign: () => false,
  };
  return desiredRelays({ ...situation, ...more, services }).map(
    ({ key, from, target, purpose }) => `${key} > ${from} ${target.host}:${target.port} ${purpose}`,
  );
}

const nodePort: ServiceSpec = {
  ...clusterIP,
  type: 'NodePort',
  ports: [{ ...http, nodePort: 30080 }],
};

const cases: readonly {
  readonly name: string;
  readonly services: readonly Service[];
  readonly allServices?: boolean;
  readonly nodePortsOnLoopback?: boolean;
  readonly nodePortHost?: string;
  readonly octets?: RelaySituation['octets'];
  readonly relays: readonly string[];
}[] = [
  {
    name: 'forwards a node port from 127.0.0.1 to the node, as a client of the LAN',
    services: [service({ spec: nodePort })],
    relays: ['TCP 127.0.0.1:30080 > lan 172.30.0.2:30080 node port'],
  },
  {
    name: 'connects as the node where node ports answer on its loopback alone',
    services: [service({ spec: nodePort })],
    nodePortsOnLoopback: true,
    relays: ['TCP 127.0.0.1:30080 > node 127.0.0.1:30080 node port'],
  },
  {
    name: 'connects as the node where policy Local may drop what comes from outside',
    services: [service({ spec: { ...nodePort, externalTrafficPolicy: 'Local' } })],
    relays: ['TCP 127.0.0.1:30080 > node 172.30.0.2:30080 node port'],
  },
  {
    name: "uses the node's address of the Service's family",
    services: [service({ spec: { ...nodePort, ipFamilies: ['IPv6'] } })],
    relays: ['TCP 127.0.0.1:30080 > lan fd30::2:30080 node port'],
  },
  {
    name: 'gives each address of a load balancer its own loopback address, with the real port',
    services: [
      service({
        spec: { ...clusterIP, type: 'LoadBalancer', ports: [http] },
        ingress: [{ ip: '172.30.128.1' }, { ip: '172.30.128.2', ipMode: 'Proxy' }],
      }),
    ],
    relays: [
      'TCP 127.30.128.1:80 > node 172.30.128.1:80 load balancer',
      'TCP 127.30.128.2:80 > lan 172.30.128.2:80 load balancer',
    ],
  },
  {
    name: 'listens on addresses of this cluster alone where others have theirs',
    services: [
      service({
        spec: { ...nodePort, type: 'LoadBalancer' },
        ingress: [{ ip: '172.30.128.1' }],
      }),
    ],
    nodePortHost: '127.0.0.2',
    octets: new Map([[30, 31]]),
    relays: [
      'TCP 127.0.0.2:30080 > lan 172.30.0.2:30080 node port',
      'TCP 127.31.128.1:80 > node 172.30.128.1:80 load balancer',
    ],
  },
  {
    name: 'answers for external IPs',
    services: [
      service({
        spec: { ...clusterIP, ports: [http], externalIPs: ['203.0.113.7', '198.51.100.32'] },
      }),
    ],
    relays: [
      'TCP 127.100.113.7:80 > node 203.0.113.7:80 external IP',
      'TCP 127.51.100.32:80 > node 198.51.100.32:80 external IP',
    ],
  },
  {
    name: 'relays UDP too, and leaves SCTP out',
    services: [
      service({
        spec: {
          ...nodePort,
          ports: [
            examplePort({ name: 'dns', port: 53, protocol: 'UDP', nodePort: 30053 }),
            examplePort({ name: 'signal', port: 99, protocol: 'SCTP', nodePort: 30099 }),
          ],
        },
      }),
    ],
    relays: ['UDP 127.0.0.1:30053 > lan 172.30.0.2:30053 node port'],
  },
  {
    name: 'leaves cluster IPs alone',
    services: [service({ spec: { ...clusterIP, ports: [http] } })],
    relays: [],
  },
  {
    name: 'relays the cluster IP of a Service that asks for it',
    services: [service({ annotation: 'true', spec: { ...clusterIP, ports: [http] } })],
    relays: ['TCP 127.96.3.7:80 > node 10.96.3.7:80 cluster IP'],
  },
  {
    name: 'relays all cluster IPs on request, but of Services that refuse or have none',
    allServices: true,
    services: [
      service({ name: 'a', spec: { ...clusterIP, ports: [http] } }),
      service({ name: 'b', annotation: 'false', spec: { ...clusterIP, ports: [http] } }),
      service({ name: 'c', spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [http] } }),
    ],
    relays: ['TCP 127.96.3.7:80 > node 10.96.3.7:80 cluster IP'],
  },
];

for (const { name, services, relays, ...situation } of cases) {
  test(`desiredRelays() ${name}`, () => {
    assert.deepEqual(lines(services, situation), relays);
  });
}

test('desiredRelays() gives an address that two Services request to the first by name, and marks the other', () => {
  const services = ['b', 'a'].map((name) => service({ name, spec: nodePort }));
  const situation = { nodeAddresses: ['172.30.0.2'], nodePortHost: '127.0.0.1', octets: new Map() };
  const relays = desiredRelays({
    ...situation,
    services,
    nodePortsOnLoopback: false,
    allServices: false,
    isForeign: () => false,
  });
  assert.deepEqual(
    relays.map(({ service, conflictsWith }) => [service, conflictsWith]),
    [
      ['default/a', undefined],
      ['default/b', 'default/a'],
    ],
  );
});

test('loopbackFor() keeps the last three octets, outside of 127.0', () => {
  const pairs = [
    ['172.30.128.1', '127.30.128.1'],
    ['10.0.0.11', '127.100.0.11'],
    ['fd30::8001', '127.100.128.1'],
  ] as const;
  for (const [ip, loopback] of pairs) assert.equal(loopbackFor(ip, new Map()), loopback);
});

test('desiredRelays() skips addresses that have other owners', () => {
  const isForeign: RelaySituation['isForeign'] = (ip) => ip === '10.244.1.2';
  const spec = { ...clusterIP, ports: [http] };
  const cases = [
    service({ spec: { ...spec, externalIPs: ['10.244.1.2'] } }),
    service({ spec: { ...spec, type: 'LoadBalancer' }, ingress: [{ ip: '10.244.1.2' }] }),
  ];
  for (const made of cases) {
    assert.equal(lines([made]).length, 1);
    assert.deepEqual(lines([made], { isForeign }), []);
  }
});

test('desiredRelays() gives the address of a load balancer to its Service', () => {
  const thief = service({
    name: 'a',
    spec: { ...clusterIP, ports: [http], externalIPs: ['172.30.128.1'] },
  });
  const owner = service({
    name: 'b',
    ingress: [{ ip: '172.30.128.1' }],
    spec: { ...clusterIP, type: 'LoadBalancer', ports: [http] },
  });
  assert.match(lines([thief, owner])[0] ?? '', /load balancer$/);
});
