import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../ip/cidr.ts';
import {
  type Advertised,
  apiEndpointObjects,
  apiServiceObject,
  isApiSliceName,
  restoredLabels,
} from './objects.ts';

const cidrs = (...texts: readonly string[]) => texts.flatMap((text) => parseCidr(text) ?? []);
const advertise = { address: '192.0.2.1', port: 6443 };
const usual = { advertise, publishesEndpoints: true };

test('apiServiceObject() is the kubernetes Service (KSV-01)', () => {
  assert.deepEqual(apiServiceObject({ serviceCidrs: cidrs('10.96.0.0/12'), ...usual }), {
    resource: 'services',
    namespace: 'default',
    body: {
      metadata: {
        name: 'kubernetes',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        clusterIP: '10.96.0.1',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
    },
  });
});

const firsts: readonly [readonly string[], string, string][] = [
  [['10.96.0.0/16', 'fd00:96::/108'], '10.96.0.1', 'IPv4'],
  [['fd00:96::/108', '10.96.0.0/16'], 'fd00:96::1', 'IPv6'],
  [['10.0.0.0/24'], '10.0.0.1', 'IPv4'],
];

for (const [ranges, clusterIP, family] of firsts) {
  test(`apiServiceObject() takes the first address of ${ranges[0]} (KSV-02)`, () => {
    const { spec } = apiServiceObject({ serviceCidrs: cidrs(...ranges), ...usual }).body as {
      readonly spec?: { readonly clusterIP: string; readonly ipFamilies: readonly string[] };
    };
    assert.deepEqual([spec?.clusterIP, spec?.ipFamilies], [clusterIP, [family]]);
  });
}

test('apiServiceObject() has a node port when one is configured (KSV-03)', () => {
  const facts = { serviceCidrs: cidrs('10.96.0.0/16'), ...usual, serviceNodePort: 30443 };
  const { spec } = apiServiceObject(facts).body as { readonly spec?: object };
  const https = { name: 'https', port: 443, protocol: 'TCP', targetPort: 6443, nodePort: 30443 };
  assert.deepEqual(
    { ...spec, clusterIP: '', ipFamilies: [] },
    {
      clusterIP: '',
      ipFamilies: [],
      ipFamilyPolicy: 'SingleStack',
      ports: [https],
      sessionAffinity: 'None',
      type: 'NodePort',
    },
  );
});

type Body = {
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly subsets?: readonly { readonly addresses: readonly { readonly ip: string }[] }[];
  readonly addressType?: string;
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[];
};

const slices = (servers: readonly Advertised[]): readonly string[] =>
  apiEndpointObjects(servers).flatMap(({ body }) => {
    const { metadata, addressType, endpoints } = body as unknown as Body;
    if (addressType === undefined) return [];
    return `${metadata.name} ${addressType} ${endpoints?.flatMap((e) => e.addresses)}`;
  });

const at = (address: string, port = 6443): Advertised => ({ address, port });

const groups: readonly [string, readonly Advertised[], readonly string[]][] = [
  ['one server', [at('192.0.2.1')], ['kubernetes IPv4 192.0.2.1']],
  ['servers in order', [at('192.0.2.9'), at('192.0.2.1')], ['kubernetes IPv4 192.0.2.1,192.0.2.9']],
  ['the same server twice', [at('192.0.2.1'), at('192.0.2.1')], ['kubernetes IPv4 192.0.2.1']],
  ['IPv6 alone', [at('2001:db8::1')], ['kubernetes IPv6 2001:db8::1']],
  [
    'both families',
    [at('2001:db8::1'), at('192.0.2.1')],
    ['kubernetes IPv4 192.0.2.1', 'kubernetes-ipv6-6443 IPv6 2001:db8::1'],
  ],
  ['no reachable server', [at('127.0.0.1')], []],
];

for (const [what, servers, wanted] of groups) {
  test(`apiEndpointObjects() lists ${what} (KSV-05, KSV-06)`, () => {
    assert.deepEqual(slices(servers), wanted);
  });
}

test('apiEndpointObjects() marks Endpoints as not to be mirrored, and slices without a manager (KSV-05, KSV-06)', () => {
  const labels = apiEndpointObjects([advertise]).map(({ body }) => body.metadata.labels);
  assert.deepEqual(labels, [
    { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    { 'kubernetes.io/service-name': 'kubernetes' },
  ]);
});

test('apiEndpointObjects() never writes empty lists (KSV-09)', () => {
  assert.deepEqual(apiEndpointObjects([]), []);
});

test('isApiSliceName() accepts the names of our slices and no others (KSV-06)', () => {
  const names = ['kubernetes', 'kubernetes-ipv6-6443', 'kubernetes-x', 'kubernetes-ipv4-', 'web'];
  assert.deepEqual(names.map(isApiSliceName), [true, true, false, false, false]);
});

test('restoredLabels() keeps further labels of Endpoints, but not of slices (KSV-05, KSV-06)', () => {
  const foreign = { custom: 'yes', 'kubernetes.io/service-name': 'x' };
  const labels = apiEndpointObjects([advertise]).map((object) => restoredLabels(object, foreign));
  assert.deepEqual(labels, [
    { ...foreign, 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    { 'kubernetes.io/service-name': 'kubernetes' },
  ]);
});
