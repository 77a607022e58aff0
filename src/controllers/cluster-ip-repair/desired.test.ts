import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../ip/address.ts';
import { parseCidr } from '../../ip/cidr.ts';
import type { IPAddress } from '../../kinds/ip-address/types.ts';
import { exampleService } from '../../kinds/service/example.ts';
import type { Service, ServiceSpec } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import { addressFor, judgeAddress, judgeService } from './desired.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const at = (seconds: number): string =>
  `${new Date(now - seconds * 1000).toISOString().slice(0, 19)}Z`;
const ranges = ['10.96.0.0/16', 'fd00:96::/108'].flatMap((text) => parseCidr(text) ?? []);

function service(name: string, clusterIPs: readonly string[], spec: ServiceSpec = {}): Service {
  const metadata = { name, creationTimestamp: at(30) };
  return exampleService({
    metadata,
    spec: { clusterIP: clusterIPs[0] ?? '', clusterIPs, ...spec },
  });
}

function kept(text: string, owner: Service, metadata: object = {}): IPAddress {
  const address = parseAddress(text);
  assert.ok(address);
  const made = addressFor(owner, address);
  return { ...made, metadata: { ...made.metadata, creationTimestamp: at(30), ...metadata } };
}

type Case = {
  readonly title: string;
  readonly service: Service;
  readonly addresses?: readonly IPAddress[];
  readonly others?: readonly Service[];
  readonly want?: string;
  readonly repairs?: 'make' | 'replace';
};

const web = service('web', ['10.96.0.20']);
const other = service('other', ['10.96.0.20']);
const cases: readonly Case[] = [
  {
    title: 'finds nothing when Service and IPAddress match',
    service: web,
    addresses: [kept('10.96.0.20', web)],
  },
  { title: 'skips headless Services', service: service('h', ['None']) },
  {
    title: 'skips ExternalName Services',
    service: service('e', ['10.9.9.9'], { type: 'ExternalName' }),
  },
  {
    title: 'reports an invalid address (IPA-29)',
    service: service('w', ['x']),
    want: 'ClusterIPNotValid Cluster IP x is not a valid IP; please recreate Service',
  },
  {
    title: 'reports an address outside of all ranges (IPA-29)',
    service: service('w', ['10.1.1.1']),
    want: 'ClusterIPOutOfRange Cluster IP [IPv4]: 10.1.1.1 is not within any configured Service CIDR; please recreate service',
  },
  {
    title: 'reports the network address',
    service: service('w', ['10.96.0.0']),
    want: 'ClusterIPOutOfRange Cluster IP [IPv4]: 10.96.0.0 is not within any configured Service CIDR; please recreate service',
  },
  {
    title: 'reports the broadcast address',
    service: service('w', ['10.96.255.255']),
    want: 'ClusterIPOutOfRange Cluster IP [IPv4]: 10.96.255.255 is not within any configured Service CIDR; please recreate service',
  },
  {
    title: 'accepts the last IPv6 address',
    service: service('w', ['fd00:96::f:ffff']),
    addresses: [kept('fd00:96::f:ffff', service('w', []))],
  },
  {
    title: 'creates a missing IPAddress (IPA-28, IPA-29)',
    service: web,
    want: 'ClusterIPNotAllocated Cluster IP [IPv4]: 10.96.0.20 is not allocated; repairing',
    repairs: 'make',
  },
  {
    title: 'replaces an IPAddress with another parent (IPA-33)',
    service: web,
    addresses: [
      {
        ...kept('10.96.0.20', web),
        spec: { parentRef: { group: 'x', resource: 'things', name: 'web' } },
      },
    ],
    want: 'ClusterIPNotAllocated the ClusterIP [IPv4]: 10.96.0.20 for Service default/web has a wrong reference; repairing',
    repairs: 'replace',
  },
  {
    title: 'replaces an IPAddress of a Service that does not exist',
    service: web,
    addresses: [kept('10.96.0.20', other)],
    want: 'ClusterIPNotAllocated the ClusterIP [IPv4]: 10.96.0.20 for Service default/web has a wrong reference; repairing',
    repairs: 'replace',
  },
  {
    title: 'leaves an IPAddress to the Service that it refers to (IPA-29, IPA-32)',
    service: web,
    addresses: [kept('10.96.0.20', other)],
    others: [other],
    want: 'ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.96.0.20 was assigned to multiple services; please recreate service',
  },
  {
    title: 'replaces an IPAddress without labels, without an event (IPA-33)',
    service: web,
    addresses: [kept('10.96.0.20', web, { labels: {} })],
    want: 'quietly ClusterIPNotAllocated the ClusterIP [IPv4]: 10.96.0.20 for Service default/web has wrong labels; repairing',
    repairs: 'replace',
  },
];

for (const { title, service: given, addresses = [], others = [], want, repairs } of cases) {
  test(`judgeService() ${title}`, () => {
    const findings = judgeService({
      service: given,
      ranges,
      addressNamed: (name) => addresses.find(({ metadata }) => metadata.name === name),
      serviceNamed: (key) => others.find(({ metadata }) => objectKey(metadata) === key),
    });
    const texts = findings.map(
      ({ reason, message, withoutEvent }) =>
        `${withoutEvent ? 'quietly ' : ''}${reason} ${message}`,
    );
    assert.deepEqual(texts, want === undefined ? [] : [want]);
    const repair = findings[0]?.repair;
    const how =
      repair === undefined ? undefined : repair.replace === undefined ? 'make' : 'replace';
    assert.equal(how, repairs);
  });
}

test('addressFor() equals what the allocator creates', () => {
  const address = parseAddress('fd00:96::7');
  assert.deepEqual(address && addressFor(web, address), {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: 'fd00:96::7',
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv6',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } },
  });
});

const stray = (age: number): IPAddress => kept('10.96.0.99', web, { creationTimestamp: at(age) });
const external = service('web', [], { type: 'ExternalName' });
const verdicts: readonly (readonly [string, IPAddress, Service | undefined, string])[] = [
  ['an IPAddress of a cluster IP', kept('10.96.0.20', web), web, 'none'],
  ['an IPAddress of another program', kept('10.96.0.20', web, { labels: {} }), undefined, 'none'],
  ['a recent IPAddress without its Service (IPA-31)', stray(20), undefined, 'wait 40000'],
  [
    'an old IPAddress without its Service (IPA-30)',
    stray(60),
    undefined,
    'delete IPAddressNotAllocated IPAddress: 10.96.0.99 for Service default/web appears to have leaked: cleaning up',
  ],
  [
    'an IPAddress older than the Service that does not use it (IPA-30)',
    stray(31),
    web,
    'delete IPAddressWrongReference IPAddress: 10.96.0.99 for Service default/web has a wrong reference; cleaning up',
  ],
  ['a recent IPAddress that its Service does not use (IPA-31)', stray(2), web, 'wait 3000'],
  [
    'an older IPAddress that its Service does not use (IPA-31)',
    stray(6),
    web,
    'delete IPAddressWrongReference IPAddress: 10.96.0.99 for Service default/web has a wrong reference; cleaning up',
  ],
  ['an IPAddress of an ExternalName Service (IPA-31)', stray(20), external, 'wait 40000'],
  [
    'an IPAddress whose parent is no Service (IPA-30)',
    { ...stray(0), spec: { parentRef: { resource: 'things', name: 'x' } } },
    undefined,
    'delete IPAddressNotAllocated IPAddress 10.96.0.99 appears to have been modified, not referencing a Service &ParentReference{Group:,Resource:things,Namespace:,Name:x,}: cleaning up',
  ],
];

for (const [title, address, holder, want] of verdicts) {
  test(`judgeAddress() judges ${title}`, () => {
    const verdict = judgeAddress({ address, service: holder, now });
    const detail =
      verdict.action === 'wait'
        ? verdict.ms
        : verdict.action === 'delete'
          ? `${verdict.reason} ${verdict.message}`
          : '';
    assert.equal(`${verdict.action} ${detail}`.trim(), want);
  });
}
