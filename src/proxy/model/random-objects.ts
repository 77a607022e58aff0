// Seeded random Services and slices for tests: valid by the API, however odd.
import type { Endpoint, SlicePort } from '../../kinds/endpoint-slice/types.ts';
import type { Service, ServicePort, ServiceSpec } from '../../kinds/service/types.ts';
import { serviceProxyNameLabel } from '../../meta/well-known-labels.ts';
import { trimmedSlice } from './example-slice.ts';
import type { Random } from './random-state.ts';
import type { ServiceObjects } from './track-state.ts';
import type { TrimmedSlice } from './trim-objects.ts';

const protocols = ['TCP', 'UDP', 'SCTP'] as const;
const portNames = ['', 'http', 'dns'] as const;
const externalIPs = ['203.0.113.1', '203.0.113.2', '2001:db8::1', '10.20.0.11'] as const;

/** The objects of the Service `default/<name>` at some moment; now and then there is no Service. */
export function randomObjects(random: Random, name: string): ServiceObjects {
  const slices = Array.from({ length: random.below(4) }, (_, n) => randomSlice(random, name, n));
  return random.percent(15) ? { slices } : { service: randomService(random, name), slices };
}

function randomService(random: Random, name: string): Service {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace: 'default',
      creationTimestamp: `2026-01-0${1 + random.below(3)}T00:00:00Z`,
      ...(random.percent(5) ? { labels: { [serviceProxyNameLabel]: 'other' } } : {}),
    },
    spec: randomSpec(random),
    status: {
      loadBalancer: random.percent(30)
        ? {
            ingress: random.some(externalIPs, 50).map((ip) => ({
              ip,
              ...(random.percent(70) ? { ipMode: random.pick(['VIP', 'Proxy']) } : {}),
            })),
          }
        : {},
    },
  };
}

function randomSpec(random: Random): ServiceSpec {
  const clusterIP = random.pick(['None', '', `10.96.0.${1 + random.below(20)}`, 'fd00:96::5']);
  const second = random.percent(50) ? ['fd00:96::0:7'] : [];
  return {
    type: random.pick(['ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']),
    clusterIP,
    clusterIPs: clusterIP.includes('.') ? [clusterIP, ...second] : [clusterIP],
    ports: randomPorts(random),
    ...(random.percent(30) ? { externalIPs: random.some(externalIPs, 50) } : {}),
    ...(random.percent(20) ? { sessionAffinity: 'ClientIP' } : {}),
    ...(random.percent(30) ? { internalTrafficPolicy: 'Local' } : {}),
    ...(random.percent(30)
      ? { externalTrafficPolicy: 'Local', healthCheckNodePort: 30_990 + random.below(5) }
      : {}),
    ...(random.percent(20)
      ? { loadBalancerSourceRanges: random.some(['10.20.0.0/16', ' 192.0.2.0/24', '::/0'], 60) }
      : {}),
  };
}

function randomPorts(random: Random): readonly ServicePort[] {
  return random.some(portNames, 60).map((name) => ({
    name,
    protocol: random.pick(protocols),
    port: random.pick([53, 80, 65_535]),
    targetPort: 80,
    ...(random.percent(40) ? { nodePort: 30_000 + random.below(4) } : {}),
  }));
}

function randomSlice(random: Random, service: string, n: number): TrimmedSlice {
  const endpoints = Array.from({ length: random.below(5) }, () => randomEndpoint(random));
  const ports: readonly SlicePort[] = random.some(portNames, 70).map((name) => ({
    ...(name === '' && random.percent(50) ? {} : { name }),
    ...(random.percent(80) ? { protocol: random.pick(protocols) } : {}),
    ...(random.percent(90) ? { port: random.pick([53, 8080, 0, -1, 70_000]) } : {}),
  }));
  const addressType = random.pick(['IPv4', 'IPv4', 'IPv4', 'IPv6', 'FQDN'] as const);
  return trimmedSlice(endpoints, { name: `${service}-${n}`, service, addressType, ports });
}

function randomEndpoint(random: Random): Endpoint {
  const node = random.pick(['n1', 'n2', 'n3']);
  return {
    addresses: [
      random.pick([`10.244.${random.below(3)}.${random.below(6)}`, 'fd44::1', 'a.example']),
    ],
    conditions: {
      ...(random.percent(80) ? { ready: random.percent(70) } : {}),
      ...(random.percent(80) ? { serving: random.percent(70) } : {}),
      ...(random.percent(80) ? { terminating: random.percent(30) } : {}),
    },
    ...(random.percent(80) ? { nodeName: node } : {}),
    ...(random.percent(40)
      ? { hints: { forZones: [{ name: random.pick(['zone-a', 'zone-b']) }] } }
      : {}),
    ...(random.percent(10) ? { hints: { forNodes: [{ name: node }] } } : {}),
  };
}
