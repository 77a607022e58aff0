// New Services that are refused: every cause with its reason, field and words, in the order of Kubernetes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { causes, type Sent, serviceRequests } from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { create } = serviceRequests(() => running.api);

const ports = [{ port: 80 }];
const ported = { ports };
const balancer = { type: 'LoadBalancer', ports };
const named = { type: 'ExternalName', externalName: 'db.example.com' };

const labelForm =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainForm =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const qualifiedForm =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const portRange = 'must be between 1 and 65535, inclusive';
const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const noRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";
const notExternal = 'may only be set for externally-accessible services';
const noHealthCheck =
  "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
const notForNames = 'may not be set for ExternalName services';
const policies = 'supported values: "Cluster", "Local"';

const refused: readonly [string, Sent, readonly string[]][] = [
  [
    'an unknown type, with what belongs to other types (API-04)',
    {
      ...ported,
      type: 'clusterIP',
      externalTrafficPolicy: 'Local',
      allocateLoadBalancerNodePorts: true,
    },
    [
      'NotSupported spec.type: Unsupported value: "clusterIP": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      `Forbidden spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyBalancers}`,
      `Invalid spec.externalTrafficPolicy: Invalid value: "Local": ${notExternal}`,
    ],
  ],
  [
    'an unknown affinity, whose settings do not count (API-05)',
    {
      ...ported,
      sessionAffinity: 'Cookie',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
    },
    [
      'NotSupported spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"',
    ],
  ],
  [
    'an affinity of no time (API-08)',
    {
      ...ported,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
    },
    [
      'Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
    ],
  ],
  [
    'an affinity of more than a day (API-08)',
    {
      ...ported,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } },
    },
    [
      'Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
    ],
  ],
  [
    'a protocol in small letters and numbers out of range (API-09, API-11)',
    { ports: [{ port: 0, protocol: 'tcp', targetPort: 65536 }] },
    [
      `Invalid spec.ports[0].port: Invalid value: 0: ${portRange}`,
      'NotSupported spec.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
      `Invalid spec.ports[0].targetPort: Invalid value: 65536: ${portRange}`,
    ],
  ],
  [
    'a target port that is no name (API-11)',
    { ports: [{ port: 80, targetPort: '-1--2345678_123' }] },
    [
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'must contain at least one letter (a-z)',
      'must not contain consecutive hyphens',
      'must not begin or end with a hyphen',
    ].map((text) => `Invalid spec.ports[0].targetPort: Invalid value: "-1--2345678_123": ${text}`),
  ],
  ['no ports (API-12)', { type: 'NodePort' }, ['Required spec.ports: Required value']],
  [
    'names of ports: wrong, given twice, missing (API-13)',
    {
      ports: [
        { port: 1, name: '123_abc' },
        { port: 2, name: '-web' },
        { port: 3, name: '123-abc' },
        { port: 4, name: '123-abc' },
        { port: 5, name: 'a.b' },
        { port: 6 },
      ],
    },
    [
      `Invalid spec.ports[0].name: Invalid value: "123_abc": ${labelForm}`,
      `Invalid spec.ports[1].name: Invalid value: "-web": ${labelForm}`,
      'Duplicate spec.ports[3].name: Duplicate value: "123-abc"',
      'Invalid spec.ports[4].name: Invalid value: "a.b": must not contain dots',
      'Required spec.ports[5].name: Required value',
    ],
  ],
  [
    'one port and node port twice, on a type that has none (API-14, API-15, API-34)',
    {
      ports: [
        { name: 'a', port: 80, nodePort: 30080 },
        { name: 'b', port: 80, nodePort: 30080 },
      ],
    },
    [
      "Forbidden spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      "Forbidden spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      'Duplicate spec.ports[1].nodePort: Duplicate value: 30080',
      'Duplicate spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  ],
  [
    'an application protocol with a bad prefix and no name (API-16)',
    { ports: [{ port: 80, appProtocol: 'Bad_/' }] },
    [
      `prefix part ${subdomainForm}`,
      'name part must be non-empty',
      `name part ${qualifiedForm}`,
    ].map((text) => `Invalid spec.ports[0].appProtocol: Invalid value: "Bad_/": ${text}`),
  ],
  [
    'a selector that is no label (API-18)',
    { ...ported, selector: { 'a b': 'ok' } },
    [`Invalid spec.selector: Invalid value: "a b": name part ${qualifiedForm}`],
  ],
  [
    'a policy for external traffic that cannot come (API-19)',
    { ...named, externalTrafficPolicy: 'Cluster' },
    [`Invalid spec.externalTrafficPolicy: Invalid value: "Cluster": ${notExternal}`],
  ],
  [
    'unknown traffic policies and an empty distribution (API-20, API-22, API-37)',
    {
      type: 'NodePort',
      ports,
      externalTrafficPolicy: 'local',
      internalTrafficPolicy: '',
      trafficDistribution: '',
    },
    [
      `NotSupported spec.externalTrafficPolicy: Unsupported value: "local": ${policies}`,
      `NotSupported spec.internalTrafficPolicy: Unsupported value: "": ${policies}`,
      'NotSupported spec.trafficDistribution: Unsupported value: "": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  ],
  [
    'an unknown policy for internal traffic, even where there is none (API-22)',
    { ...named, internalTrafficPolicy: 'Node' },
    [`NotSupported spec.internalTrafficPolicy: Unsupported value: "Node": ${policies}`],
  ],
  [
    'what only load balancers have (API-23, API-24, API-27, API-28, API-35)',
    {
      ...named,
      allocateLoadBalancerNodePorts: false,
      loadBalancerClass: '',
      loadBalancerSourceRanges: ['10.0.0.1'],
      healthCheckNodePort: 5,
    },
    [
      `Forbidden spec.LoadBalancerSourceRanges: Forbidden: ${onlyBalancers}`,
      `Invalid spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1": ${noRange}`,
      `Forbidden spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyBalancers}`,
      `Forbidden spec.loadBalancerClass: Forbidden: ${onlyBalancers}`,
      `Invalid spec.healthCheckNodePort: Invalid value: 5: ${noHealthCheck}`,
    ],
  ],
  [
    'a class of three parts (API-24)',
    { ...balancer, loadBalancerClass: 'a/b/c' },
    [
      `Invalid spec.loadBalancerClass: Invalid value: "a/b/c": a valid label key ${qualifiedForm} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  [
    'source ranges that are none or not clearly one (API-27, API-28, API-30)',
    {
      ...balancer,
      loadBalancerSourceRanges: [
        '',
        '10.0.0.1/8',
        '010.0.0.1/8',
        '10.0.0.0/08',
        '::ffff:10.0.0.0/104',
      ],
    },
    [
      `[0]: Invalid value: "": ${noRange}`,
      '[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
      '[2]: Invalid value: "010.0.0.1/8": must not have leading 0s in IP or prefix length',
      '[3]: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length',
      '[4]: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address',
    ].map((text) => `Invalid spec.LoadBalancerSourceRanges${text}`),
  ],
  [
    'external addresses of special meaning or odd form (API-29, API-30)',
    {
      ...ported,
      externalIPs: [
        '::',
        '::1',
        '169.254.0.9',
        'ff02::1',
        '198.51.100.07',
        '::ffff:198.51.100.7',
        'web',
      ],
    },
    [
      '[0]: Invalid value: "::": may not be unspecified (::)',
      '[1]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      '[2]: Invalid value: "169.254.0.9": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      '[3]: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
      '[4]: Invalid value: "198.51.100.07": must not have leading 0s',
      '[5]: Invalid value: "::ffff:198.51.100.7": must not be an IPv4-mapped IPv6 address',
      `[6]: Invalid value: "web": ${noAddress}`,
    ].map((text) => `Invalid spec.externalIPs${text}`),
  ],
  [
    'an external name that is only a dot (API-31)',
    { type: 'ExternalName', externalName: '.' },
    ['Required spec.externalName: Required value'],
  ],
  [
    'an external name that is no name, without the last of its dots (API-31)',
    { type: 'ExternalName', externalName: 'Db..' },
    [`Invalid spec.externalName: Invalid value: "Db.": ${subdomainForm}`],
  ],
  [
    'addresses on ExternalName, before the name that is missing (API-32)',
    {
      type: 'ExternalName',
      clusterIP: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
    [
      `Forbidden spec.clusterIPs: Forbidden: ${notForNames}`,
      `Forbidden spec.ipFamilies: Forbidden: ${notForNames}`,
      `Forbidden spec.ipFamilyPolicy: Forbidden: ${notForNames}`,
      'Required spec.externalName: Required value',
    ],
  ],
  [
    'None on a load balancer, which may have the port of the kubelet (API-33)',
    { type: 'LoadBalancer', clusterIP: 'None', ports: [{ port: 10250 }] },
    [
      'Invalid spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
    ],
  ],
  [
    'a health check port under policy Cluster (API-35)',
    { ...balancer, healthCheckNodePort: 30901 },
    [`Invalid spec.healthCheckNodePort: Invalid value: 30901: ${noHealthCheck}`],
  ],
  [
    'a list of addresses without the first (API-40)',
    { ...ported, clusterIPs: ['10.96.40.9'] },
    [
      'Invalid spec.clusterIPs: Invalid value: ["10.96.40.9"]: must be empty when `clusterIP` is not specified',
    ],
  ],
  [
    'another first address than the list has (API-40)',
    { ...ported, clusterIP: '10.96.40.8', clusterIPs: ['10.96.40.9'] },
    ['Invalid spec.clusterIPs: Invalid value: ["10.96.40.9"]: first value must match `clusterIP`'],
  ],
  [
    'three addresses of one family (API-41)',
    { ...ported, clusterIP: '10.96.41.1', clusterIPs: ['10.96.41.1', '10.96.41.2', '10.96.41.3'] },
    [
      'Invalid spec.clusterIPs: Invalid value: ["10.96.41.1","10.96.41.2","10.96.41.3"]: may only hold up to 2 values',
      'Invalid spec.clusterIPs: Invalid value: ["10.96.41.1","10.96.41.2","10.96.41.3"]: may specify no more than one IP for each IP family',
    ],
  ],
  [
    'None as the second address (API-41)',
    { ...ported, clusterIP: '10.96.41.1', clusterIPs: ['10.96.41.1', 'None'] },
    [`Invalid spec.clusterIPs[1]: Invalid value: "None": ${noAddress}`],
  ],
  [
    'families unknown and repeated, an unknown policy and no address, all together (API-42, API-43)',
    {
      ...ported,
      ipFamilies: ['IPv4', 'ipv6', 'IPv4'],
      ipFamilyPolicy: 'Dual',
      clusterIP: '10.96.0',
    },
    [
      'NotSupported spec.ipFamilies[1]: Unsupported value: "ipv6": supported values: "IPv4", "IPv6"',
      'Duplicate spec.ipFamilies[2]: Duplicate value: "IPv4"',
      'NotSupported spec.ipFamilyPolicy: Unsupported value: "Dual": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      `Invalid spec.clusterIPs[0]: Invalid value: "10.96.0": ${noAddress}`,
    ],
  ],
  [
    'an address of another family than the one at its place (API-42)',
    { ...ported, clusterIP: '10.96.42.9', ipFamilies: ['IPv6'] },
    [
      'Invalid spec.clusterIPs[0]: Invalid value: "10.96.42.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
  ],
  [
    'an address outside the range, which hides all else (API-43)',
    { clusterIP: '192.0.2.43', sessionAffinity: 'Cookie' },
    [
      'Invalid spec.clusterIPs: Invalid value: ["192.0.2.43"]: failed to allocate IP 192.0.2.43: the provided network does not match the current range',
    ],
  ],
];

for (const [title, spec, wanted] of refused) {
  test(`refused: ${title}`, async () => {
    assert.deepEqual(causes(await create(spec)), wanted);
  });
}

const sourceRanges = 'service.beta.kubernetes.io/load-balancer-source-ranges';

test('refused: source ranges in the annotation, unless the field has some (API-27)', async () => {
  const annotations = { [sourceRanges]: '10.0.0.0/8, web,10.0.0.1/8' };
  const field = `metadata.annotations[${sourceRanges}]`;
  assert.deepEqual(causes(await create(ported, { annotations })), [
    `Forbidden ${field}: Forbidden: ${onlyBalancers}`,
    `Invalid ${field}: Invalid value: "web": ${noRange}`,
    `Invalid ${field}: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`,
  ]);
  const given = { ...balancer, loadBalancerSourceRanges: ['10.0.0.0/8'] };
  assert.equal((await create(given, { annotations })).status, 201);
});

test('refused: topology annotations that disagree, before all of the spec (API-39)', async () => {
  const annotations = {
    'service.kubernetes.io/topology-mode': 'auto',
    'service.kubernetes.io/topology-aware-hints': 'Auto',
  };
  assert.deepEqual(causes(await create({ type: 'NodePort' }, { annotations })), [
    'Invalid metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
    'Required spec.ports: Required value',
  ]);
  const same = { ...annotations, 'service.kubernetes.io/topology-mode': 'Auto' };
  assert.equal((await create(ported, { annotations: same })).status, 201);
});
