// Connections as people write them, to everything that a name, an address or a port can be: what becomes of each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { loadAllModes } from '../../../src/proxy/modes/all.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../../src/snapshot/snapshot.ts';
import { parseSource, parseTarget } from '../../../src/trace/parse-target.ts';
import type { OutcomeKind } from '../../../src/trace/trace.ts';
import { traceConnection } from '../../../src/trace/trace-connection.ts';
import { pod, service, slice, tracedWorld } from './traced-world.ts';

const base = tracedWorld();

function withSpec(one: Pod, spec: Partial<Pod['spec']>): Pod {
  return { ...one, spec: { ...one.spec, ...spec } };
}

const sources = [
  withSpec(pod('plain', '10.244.1.20'), { dnsPolicy: 'Default' }),
  withSpec(pod('custom', '10.244.1.21'), {
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['10.96.0.10'],
      searches: ['svc.cluster.local'],
      options: [{ name: 'ndots', value: '2' }],
    },
  }),
  withSpec(pod('host', '10.20.0.11'), { hostNetwork: true, dnsPolicy: 'ClusterFirst' }),
  withSpec(pod('hostdns', '10.20.0.11'), {
    hostNetwork: true,
    dnsPolicy: 'ClusterFirstWithHostNet',
  }),
  withSpec(pod('aliased', '10.244.1.22'), {
    hostAliases: [{ ip: '10.96.0.20', hostnames: ['legacy', 'www.legacy.example'] }],
  }),
];

const alias = (name: string, externalName: string) =>
  service(name, { type: 'ExternalName', externalName, clusterIP: '' });
const port = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;

const index = indexSnapshot(
  makeSnapshot({
    objects: {
      ...base,
      pods: [...(base.pods ?? []), ...sources],
      services: [
        ...(base.services ?? []),
        alias('chain1', 'chain2.default.svc.cluster.local'),
        alias('chain2', 'web.default.svc.cluster.local'),
        alias('loop', 'loop.default.svc.cluster.local'),
        alias('number', '192.0.2.7'),
        service('quiet', { clusterIP: 'None' }),
        service('shifted', { clusterIP: 'None', ports: [port] }),
        service('many', {
          clusterIP: '10.96.0.40',
          ports: [port, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 8080 }],
        }),
        service('outer', {
          ...{ clusterIP: '10.96.0.41', type: 'NodePort', externalIPs: ['192.0.2.80'] },
          ports: [{ ...port, nodePort: 30080 }],
        }),
        service(
          'ranged',
          {
            ...{ clusterIP: '10.96.0.42', type: 'LoadBalancer' },
            loadBalancerSourceRanges: ['198.51.100.0/24'],
          },
          { loadBalancer: { ingress: [{ ip: '192.0.2.90', ipMode: 'VIP' }] } },
        ),
        service('nearby', {
          ...{ clusterIP: '10.96.0.43', type: 'NodePort', externalTrafficPolicy: 'Local' },
          ports: [{ ...port, nodePort: 30081 }],
        }),
      ],
      endpointSlices: [
        ...(base.endpointSlices ?? []),
        slice('quiet', [{ address: '10.244.1.5', pod: 'web-1', ready: false }]),
        slice('shifted', [{ address: '10.244.1.5', pod: 'web-1' }]),
        slice(
          'many',
          [{ address: '10.244.1.5', pod: 'web-1' }],
          [
            { name: 'http', protocol: 'TCP', port: 8080 },
            { name: 'dns', protocol: 'UDP', port: 8080 },
          ],
        ),
        slice('outer', [{ address: '10.244.1.5', pod: 'web-1' }]),
        slice('ranged', [{ address: '10.244.1.5', pod: 'web-1' }]),
        slice('nearby', [{ address: '10.244.1.5', pod: 'web-1' }]),
      ],
    },
  }),
);

const cases: readonly (readonly [string, string, OutcomeKind | 'error', RegExp])[] = [
  ['pod/client', 'http://web', 'answered', /one of 2 endpoints/],
  ['pod/client', 'http://web/path?x=y#z', 'answered', /one of 2/],
  ['pod/client', 'http://user:secret@web:80/', 'answered', /one of 2/],
  ['pod/client', 'https://web', 'refused', /no port 443\/TCP; it has 80\/TCP/],
  ['pod/client', 'WEB:80', 'answered', /one of 2/],
  ['pod/client', 'web.:80', 'no-such-name', /none of its names/],
  ['pod/client', 'web.default.svc.cluster.local.:80', 'answered', /one of 2/],
  ['pod/client', 'web.shop:80', 'no-such-name', /no Service "web" in namespace "shop"/],
  ['pod/client', 'nothing:80', 'no-such-name', /^No such name: nothing$/],
  ['pod/client', 'bücher.example:80', 'not-for-a-service', /xn--bcher-kva\.example/],
  ['pod/client', 'web..default:80', 'error', /want a URL/],
  ['pod/client', 'web:http', 'error', /or svc\/web:http$/],
  ['pod/client', 'chain1:80', 'answered', /one of 2/],
  ['pod/client', 'loop:80', 'no-such-name', /alias of loop\.default/],
  ['pod/client', 'number:80', 'no-such-name', /which is an address, where a name/],
  ['pod/client', 'outside:443', 'not-for-a-service', /api\.example\.com/],
  ['pod/client', 'quiet:80', 'no-such-name', /no ready endpoint/],
  ['pod/client', 'shifted:80', 'refused', /target port 8080 does not count/],
  ['pod/client', 'shifted:8080', 'answered', /pod default\/web-1, at port 8080/],
  ['pod/client', '10-244-1-5.default.pod.cluster.local:8080', 'answered', /pod default\/web-1/],
  ['pod/client', 'svc/many', 'error', /2 ports, name one of them: http 80\/TCP, dns 53\/UDP/],
  ['pod/client', 'svc/many:dns', 'answered', /pod default\/web-1, at port 8080/],
  ['pod/client', 'svc/many:53', 'answered', /at port 8080/],
  ['pod/client', 'svc/many:smtp', 'error', /has no port "smtp"/],
  ['pod/client', 'localhost:80', 'not-for-a-service', /is the pod itself/],
  ['pod/client', '127.0.0.1:8080', 'answered', /by the pod itself, at port 8080/],
  ['pod/client', '127.0.0.1:30080', 'not-for-a-service', /the pod itself/],
  ['pod/client', '0.0.0.0:80', 'not-for-a-service', /itself/],
  ['pod/client', 'client:8080', 'answered', /pod default\/client/],
  ['pod/aliased', 'legacy:80', 'answered', /one of 2/],
  ['pod/aliased', 'www.legacy.example:80', 'answered', /one of 2/],
  ['pod/plain', 'web:80', 'no-such-name', /dnsPolicy Default.*does not know names of the cluster/],
  ['pod/plain', 'web.default:80', 'no-such-name', /does not know names of the cluster/],
  ['pod/plain', 'api.example.com:443', 'not-for-a-service', /resolved by/],
  ['pod/plain', '10.96.0.20:80', 'answered', /one of 2/],
  ['pod/custom', 'web.default:80', 'answered', /one of 2/],
  ['pod/custom', 'web:80', 'no-such-name', /^No such name: web/],
  ['pod/host', 'web:80', 'no-such-name', /dnsPolicy ClusterFirst/],
  ['pod/hostdns', 'web:80', 'answered', /one of 2/],
  ['node/n1', '127.0.0.1:30080', 'not-for-a-service', /do not answer at 127/],
  ['node/n1', '10.20.0.11:30080', 'answered', /web-1/],
  ['node/n2', '10.20.0.12:30081', 'answered', /web-1/],
  ['outside', '10.20.0.11:30081', 'answered', /web-1/],
  ['outside', '10.20.0.12:30081', 'dropped', /allows endpoints on node n2 only/],
  ['outside', '192.0.2.80:80', 'answered', /web-1/],
  ['outside=198.51.100.7', '192.0.2.90:80', 'answered', /web-1/],
  ['outside=203.0.113.7', '192.0.2.90:80', 'dropped', /203\.0\.113\.7 is in no source range/],
  ['outside', 'localhost:80', 'not-for-a-service', /the client itself/],
  ['outside', '10.244.1.5:8080', 'not-for-a-service', /only if the network routes/],
  ['pod/client', '10.96.0.250:80', 'dropped', /no Service has it/],
  ['pod/client', 'node/n9:80', 'error', /^There is no node "n9"$/],
  ['pod/gone', 'web:80', 'error', /^There is no pod "gone" in namespace "default"$/],
];

const [mode] = await loadAllModes();
for (const [from, text, kind, sentence] of cases) {
  test(`traceConnection() from ${from} to ${text}: ${kind}`, () => {
    const [target, source] = [parseTarget(text), parseSource(from)];
    assert.ok('value' in source && mode !== undefined);
    if ('error' in target) {
      assert.equal(kind, 'error');
      assert.match(target.error, sentence);
      return;
    }
    const traced = traceConnection(
      index,
      { text, target: target.value, from: source.value, namespace: 'default' },
      { settings: clusterSettings(index, { clusterDns: ['10.96.0.10'] }), mode },
    );
    if ('error' in traced) {
      assert.equal(kind, 'error', traced.error);
      assert.match(traced.error, sentence);
      return;
    }
    const { verdict } = traced.value;
    assert.equal(verdict.kind, kind, verdict.sentence);
    assert.match(verdict.sentence, sentence);
  });
}
