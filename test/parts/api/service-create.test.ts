// New Services: what the server fills in, what it refuses and in which words, what it warns of.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Answer } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import {
  assertSpec,
  causes,
  type Sent,
  serviceRequests,
  warnings,
} from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { create, have, read } = serviceRequests(() => running.api);

const ports = [{ port: 80 }];
const ported = { ports };
const balancer = { type: 'LoadBalancer', ports };
const named = { type: 'ExternalName', externalName: 'db.example.com' };
const absent = undefined;

const filledIn: readonly [string, Sent, Sent][] = [
  ['an empty type is ClusterIP (API-04)', { ...ported, type: '' }, { type: 'ClusterIP' }],
  [
    'an empty affinity is None (API-05)',
    { ...ported, sessionAffinity: '' },
    { sessionAffinity: 'None' },
  ],
  [
    'settings without affinity are dropped, wrong ones too (API-06)',
    {
      ...ported,
      sessionAffinity: 'None',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
    },
    { sessionAffinity: 'None', sessionAffinityConfig: absent },
  ],
  [
    'settings that are empty get three hours (API-07)',
    { ...ported, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: null } },
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
  ],
  [
    'affinity may last a day (API-08)',
    {
      ...ported,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } },
    },
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } },
  ],
  [
    'a port of no protocol is TCP and leads to its own number (API-09, API-10)',
    { ports: [{ port: 80, protocol: '', targetPort: '' }] },
    { ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }] },
  ],
  [
    'a target port may have a name of fifteen characters (API-11)',
    { ports: [{ port: 80, targetPort: 'a-23456789-1234', protocol: 'SCTP' }] },
    { ports: [{ protocol: 'SCTP', port: 80, targetPort: 'a-23456789-1234' }] },
  ],
  ['a headless service needs no ports (API-12)', { clusterIP: 'None' }, { ports: absent }],
  ['ExternalName needs no ports (API-12)', named, { ports: absent }],
  [
    'one number may be there once for each protocol, and each may share the node port (API-14, API-15)',
    {
      type: 'NodePort',
      ports: [
        { name: 't', port: 53, nodePort: 30053 },
        { name: 'u', port: 53, protocol: 'UDP', nodePort: 30053 },
      ],
    },
    {
      ports: [
        { name: 't', protocol: 'TCP', port: 53, targetPort: 53, nodePort: 30053 },
        { name: 'u', protocol: 'UDP', port: 53, targetPort: 53, nodePort: 30053 },
      ],
    },
  ],
  [
    'an application protocol is kept (API-16)',
    { ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }] },
    { ports: [{ protocol: 'TCP', appProtocol: 'kubernetes.io/h2c', port: 80, targetPort: 80 }] },
  ],
  ['an empty selector is none (API-18)', { ...ported, selector: {} }, { selector: absent }],
  [
    'external traffic has a policy on NodePort (API-19)',
    { type: 'NodePort', ports, externalTrafficPolicy: '' },
    { externalTrafficPolicy: 'Cluster' },
  ],
  [
    'external traffic has a policy where an external IP leads in (API-19)',
    { ...ported, externalIPs: ['198.51.100.1'] },
    { externalTrafficPolicy: 'Cluster' },
  ],
  [
    'external traffic has no policy on ClusterIP (API-19)',
    ported,
    { externalTrafficPolicy: absent },
  ],
  [
    'internal traffic has a policy (API-21)',
    { ...ported, internalTrafficPolicy: null },
    { internalTrafficPolicy: 'Cluster' },
  ],
  [
    'internal traffic to ExternalName has none, though one was sent (API-21)',
    { ...named, internalTrafficPolicy: 'Local' },
    { internalTrafficPolicy: absent },
  ],
  ['load balancers get node ports (API-23)', balancer, { allocateLoadBalancerNodePorts: true }],
  [
    'the class of a load balancer may have a prefix (API-24)',
    { ...balancer, loadBalancerClass: 'example.com/internal' },
    { loadBalancerClass: 'example.com/internal' },
  ],
  [
    'the requested address of a load balancer may be anything (API-26)',
    { ...balancer, loadBalancerIP: 'not an address' },
    { loadBalancerIP: 'not an address' },
  ],
  [
    'blanks around a source range are kept (API-27)',
    { ...balancer, loadBalancerSourceRanges: [' 10.0.0.0/8 '] },
    { loadBalancerSourceRanges: [' 10.0.0.0/8 '] },
  ],
  [
    'an external name may end in a dot and look like an address (API-31)',
    { type: 'ExternalName', externalName: '192.0.2.1.' },
    { externalName: '192.0.2.1.' },
  ],
  [
    'a health check port may be asked for (API-35)',
    { ...balancer, externalTrafficPolicy: 'Local', healthCheckNodePort: 30900 },
    { healthCheckNodePort: 30900 },
  ],
  [
    'an empty traffic distribution is valid (API-37)',
    { ...ported, trafficDistribution: null },
    { trafficDistribution: absent },
  ],
  [
    'unready pods are published when asked for (API-38)',
    { ...ported, publishNotReadyAddresses: true },
    { publishNotReadyAddresses: true },
  ],
  [
    'unready pods are otherwise not published (API-38)',
    { ...ported, publishNotReadyAddresses: false },
    { publishNotReadyAddresses: absent },
  ],
  [
    'one address fills the list (API-40)',
    { ...ported, clusterIP: '10.96.40.1' },
    { clusterIPs: ['10.96.40.1'] },
  ],
  [
    'families follow the addresses (API-42)',
    {
      ...ported,
      clusterIP: 'fd00:96::42',
      clusterIPs: ['fd00:96::42', '10.96.42.1'],
      ipFamilyPolicy: 'RequireDualStack',
    },
    { ipFamilies: ['IPv6', 'IPv4'] },
  ],
  [
    'families of a headless service need not fit an address (API-42)',
    { ...ported, clusterIP: 'None', selector: { app: 'web' }, ipFamilies: ['IPv6'] },
    { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  ],
];

for (const [title, spec, wanted] of filledIn) {
  test(title, async () => {
    const answer = await create(spec);
    assertSpec(answer, wanted);
    const { name = '' } = answer.body.metadata;
    assert.deepEqual(
      (await read(name)).spec,
      answer.body.spec,
      'what was answered is what is stored',
    );
  });
}

test('names may start with a digit and have 63 characters (API-02)', async () => {
  for (const name of ['1st', '9', 'a'.repeat(63)]) {
    assert.equal((await create(ported, { name })).status, 201, name);
  }
});

test('a service named after a digit can be changed (API-03)', async () => {
  const name = await have(ported, { name: '3rd' });
  const { status } = await serviceRequests(() => running.api).patch(name, {
    metadata: { labels: { a: 'b' } },
  });
  assert.equal(status, 200);
});

const firstRange = (answer: Answer<Service>): readonly string[] => causes(answer).slice(0, 1);
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test('other names are refused (API-02)', async () => {
  const texts: Readonly<Record<string, string>> = {
    Web: label,
    'web-': label,
    'my.web': 'must not contain dots',
    ['a'.repeat(64)]: 'must be no more than 63 characters',
  };
  for (const [name, text] of Object.entries(texts)) {
    const wanted = [`Invalid metadata.name: Invalid value: "${name}": ${text}`];
    assert.deepEqual(firstRange(await create({ clusterIP: 'None' }, { name })), wanted);
  }
});

const warned: readonly [string, Sent, Sent, readonly string[]][] = [
  [
    'external IPs are deprecated, after what is odd about them (API-62, API-66)',
    { ...ported, externalIPs: ['198.51.100.1', '2001:DB8::1'] },
    {},
    [
      'spec.externalIPs[1]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
  ],
  [
    'a headless service ignores three fields (API-63)',
    {
      clusterIP: 'None',
      loadBalancerIP: '192.0.2.1',
      externalIPs: ['198.51.100.1'],
      sessionAffinity: 'ClientIP',
    },
    {},
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
    ],
  ],
  [
    'ExternalName ignores external IPs, odd ones too (API-64, API-66)',
    { ...named, externalIPs: ['2001:DB8::1'] },
    {},
    [
      'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ],
  ],
  [
    'other types ignore an external name (API-64)',
    { ...ported, externalName: 'Not A Name' },
    {},
    ['spec.externalName is ignored when spec.type is not "ExternalName"'],
  ],
  [
    'former settings for near endpoints are deprecated (API-65)',
    { ...ported, trafficDistribution: 'PreferClose' },
    { annotations: { 'service.kubernetes.io/topology-aware-hints': 'Auto' } },
    [
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ],
  [
    'addresses and ranges should be in one form (API-26, API-66)',
    {
      ...balancer,
      clusterIP: 'fd00:96::0:66',
      loadBalancerIP: '010.0.0.1',
      loadBalancerSourceRanges: ['2001:DB8::/32', ' 2001:DB8::/32'],
    },
    {},
    [
      'spec.clusterIPs[0]: IPv6 address "fd00:96::0:66" should be in RFC 5952 canonical format ("fd00:96::66")',
      'spec.loadBalancerIP: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1"',
      'spec.loadBalancerSourceRanges[0]: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")',
    ],
  ],
  [
    'a plain service is no reason to warn (API-65)',
    { ...ported, trafficDistribution: 'PreferSameZone' },
    {},
    [],
  ],
];

for (const [title, spec, metadata, wanted] of warned) {
  test(title, async () => {
    const answer = await create(spec, metadata);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(warnings(answer), wanted);
  });
}
