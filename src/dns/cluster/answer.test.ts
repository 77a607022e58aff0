import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { name } from '../wire/example.ts';
import { nameText } from '../wire/names.ts';
import { typeName, types } from '../wire/record-types.ts';
import { answerCluster, type ClusterOptions } from './answer.ts';
import { service, slice, zoneOf } from './example.ts';
import type { Zone } from './zone.ts';

const options: ClusterOptions & { readonly serial: () => number } = {
  domain: name('cluster.local'),
  ttl: 30,
  versionTtl: 30,
  pods: 'insecure',
  ignoreEmptyService: false,
  ownAddresses: ['10.96.0.10'],
  serial: () => 1,
};

const zone = zoneOf(
  service('a', 'web', {
    clusterIP: '10.96.50.1',
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  }),
  service('a', 'dual', { clusterIPs: ['10.96.50.3', 'fd00:96::3'], ports: [{ port: 80 }] }),
  service('a', 'db', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }),
  slice('a', 'db', [
    { address: '10.244.7.10', hostname: 'db-0' },
    { address: '10.244.7.12', ready: true },
    { address: '10.244.7.13', hostname: 'db-3', ready: false },
  ]),
  slice('a', 'db', [{ address: 'fd44::1', hostname: 'db-0' }], undefined, { suffix: 'y' }),
  slice('a', 'web', [{ address: '10.244.7.80' }], [{ name: 'http', port: 8080 }]),
  service('a', 'void', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }),
  service('a', 'bare', { clusterIP: 'None' }),
  slice('a', 'bare', [{ address: '10.244.7.45' }], []),
  service('a', 'ext', { type: 'ExternalName', externalName: 'web.a.svc.cluster.local' }),
  service('a', 'out', { type: 'ExternalName', externalName: 'db.example.com' }),
  service('a', 'ip', { type: 'ExternalName', externalName: '192.0.2.5' }),
  service('a', 'self', { type: 'ExternalName', externalName: 'self.a.svc.cluster.local' }),
  service('a', 'ping', { type: 'ExternalName', externalName: 'pong.a.svc.cluster.local' }),
  service('a', 'pong', { type: 'ExternalName', externalName: 'ping.a.svc.cluster.local' }),
  service('a', 'hole', { type: 'ExternalName', externalName: 'void.a.svc.cluster.local' }),
);

type Type = keyof typeof types;

/** `NOERROR` and the records, or what else comes out. */
function ask(text: string, type: Type, change: Partial<ClusterOptions> = {}, of: Zone = zone) {
  const question = { name: name(text), type: types[type] };
  const outcome = answerCluster(of, question, { ...options, ...change });
  if (outcome.kind === 'records') {
    const { answers, additionals } = outcome;
    return [...answers.map(line), ...additionals.map((record) => `+ ${line(record)}`)].sort();
  }
  return outcome.kind === 'alias'
    ? outcome.paths.flatMap(({ records, target }) => [
        ...records.map(line),
        ...(target === undefined ? [] : [`? ${nameText(target)}`]),
      ])
    : outcome.kind;
}

function line({ name: owner, type, data }: ResourceRecord): string {
  const text = data.map((part) => {
    if (typeof part === 'string') return nameText(part);
    if (type === types.SRV)
      return [0, 2, 4].map((at) => ((part[at] ?? 0) << 8) | (part[at + 1] ?? 0)).join(' ');
    return type === types.AAAA ? Buffer.from(part).toString('hex') : part.join('.');
  });
  return `${nameText(owner).replace('.svc.cluster.local.', '')} ${typeName(type)} ${text.join(' ')}`;
}

const c = (text: string): string => `${text}.svc.cluster.local`;
const fd44 = 'fd440000000000000000000000000001';
const nibbles = (hex: string): string => [...hex].reverse().join('.');
const cases: readonly (readonly [string, string, Type, readonly string[] | string])[] = [
  ['a cluster IP (DNS-02)', c('web.a'), 'A', ['web.a A 10.96.50.1']],
  ['no address of the other family (DNS-05)', c('web.a'), 'AAAA', []],
  ['A of both families (DST-18)', c('dual.a'), 'A', ['dual.a A 10.96.50.3']],
  [
    'AAAA of both families (DST-18)',
    c('dual.a'),
    'AAAA',
    ['dual.a AAAA fd000096000000000000000000000003'],
  ],
  [
    'ready endpoints of a headless service (DNS-03)',
    c('db.a'),
    'A',
    ['db.a A 10.244.7.10', 'db.a A 10.244.7.12'],
  ],
  ['no name for a headless service without endpoints (DNS-04)', c('void.a'), 'A', 'missing'],
  ['an endpoint by its host name (DNS-06)', c('db-0.db.a'), 'A', ['db-0.db.a A 10.244.7.10']],
  ['its other family (DST-18)', c('db-0.db.a'), 'AAAA', [`db-0.db.a AAAA ${fd44}`]],
  [
    'an endpoint by its address (DNS-07)',
    c('10-244-7-12.db.a'),
    'A',
    ['10-244-7-12.db.a A 10.244.7.12'],
  ],
  ['no address where there is a host name', c('10-244-7-10.db.a'), 'A', 'missing'],
  [
    'endpoints of services with an address (DNS-07)',
    c('10-244-7-80.web.a'),
    'A',
    ['10-244-7-80.web.a A 10.244.7.80'],
  ],
  ['no endpoint that is not ready (DNS-10)', c('db-3.db.a'), 'A', 'missing'],
  [
    'SRV of a cluster IP (DNS-11)',
    c('_http._tcp.web.a'),
    'SRV',
    ['+ web.a A 10.96.50.1', '_http._tcp.web.a SRV 0 100 80 web.a.svc.cluster.local.'],
  ],
  ['no SRV for the wrong protocol', c('_http._udp.web.a'), 'SRV', 'missing'],
  [
    'SRV of a headless service (DNS-12, DNS-13)',
    c('_pg._tcp.db.a'),
    'SRV',
    [
      '+ 10-244-7-12.db.a A 10.244.7.12',
      '+ db-0.db.a A 10.244.7.10',
      `+ db-0.db.a AAAA ${fd44}`,
      '_pg._tcp.db.a SRV 0 33 5432 10-244-7-12.db.a.svc.cluster.local.',
      '_pg._tcp.db.a SRV 0 33 5432 db-0.db.a.svc.cluster.local.',
    ],
  ],
  [
    'SRV of all ports (DNS-14)',
    c('web.a'),
    'SRV',
    [
      '+ web.a A 10.96.50.1',
      'web.a SRV 0 50 53 web.a.svc.cluster.local.',
      'web.a SRV 0 50 80 web.a.svc.cluster.local.',
    ],
  ],
  ['no SRV without ports', c('bare.a'), 'SRV', []],
  ['an address without ports', c('bare.a'), 'A', ['bare.a A 10.244.7.45']],
  [
    'PTR of a cluster IP (DNS-15)',
    '1.50.96.10.in-addr.arpa',
    'PTR',
    ['1.50.96.10.in-addr.arpa. PTR web.a.svc.cluster.local.'],
  ],
  [
    'PTR of an endpoint (DNS-15)',
    '10.7.244.10.in-addr.arpa',
    'PTR',
    ['10.7.244.10.in-addr.arpa. PTR db-0.db.a.svc.cluster.local.'],
  ],
  [
    'PTR of an IPv6 cluster IP (DNS-16)',
    `${nibbles('fd000096000000000000000000000003')}.ip6.arpa`,
    'PTR',
    [`${nibbles('fd000096000000000000000000000003')}.ip6.arpa. PTR dual.a.svc.cluster.local.`],
  ],
  [
    'PTR of an IPv6 endpoint (DNS-16)',
    `${nibbles(fd44)}.ip6.arpa`,
    'PTR',
    [`${nibbles(fd44)}.ip6.arpa. PTR db-0.db.a.svc.cluster.local.`],
  ],
  ['31 nibbles are no address (DNS-16)', `${nibbles(fd44).slice(2)}.ip6.arpa`, 'PTR', 'elsewhere'],
  ['33 nibbles are no address (DNS-16)', `0.${nibbles(fd44)}.ip6.arpa`, 'PTR', 'elsewhere'],
  [
    'a label of two digits is no nibble (DNS-16)',
    `10${nibbles(fd44).slice(1)}.ip6.arpa`,
    'PTR',
    'elsewhere',
  ],
  ['an unknown address is for others', '9.9.9.9.in-addr.arpa', 'PTR', 'elsewhere'],
  ['half an address is for others', '9.9.in-addr.arpa', 'PTR', 'elsewhere'],
  [
    'an alias within the cluster (DNS-17)',
    c('ext.a'),
    'A',
    ['ext.a CNAME web.a.svc.cluster.local.', 'web.a A 10.96.50.1'],
  ],
  ['an alias of what has no such address', c('ext.a'), 'AAAA', []],
  [
    'an alias of another name (DNS-17)',
    c('out.a'),
    'A',
    ['out.a CNAME db.example.com.', '? db.example.com.'],
  ],
  ['the alias alone', c('out.a'), 'CNAME', ['out.a CNAME db.example.com.']],
  ['no SRV of an alias (DNS-14)', c('out.a'), 'SRV', []],
  ['no alias of an address (DNS-18)', c('ip.a'), 'A', 'missing'],
  ['no alias of itself (DNS-19)', c('self.a'), 'A', []],
  ['no aliases in a circle (DNS-19)', c('ping.a'), 'A', []],
  ['no alias of nothing', c('hole.a'), 'A', []],
  ['nothing below an alias', c('x.ext.a'), 'A', 'missing'],
  [
    'the version (DNS-20)',
    'dns-version.cluster.local',
    'TXT',
    ['dns-version.cluster.local. TXT 5.49.46.49.46.48'],
  ],
  ['the apex (DNS-21)', 'cluster.local', 'A', []],
  [
    'NS at the apex (DNS-21)',
    'cluster.local',
    'NS',
    ['+ ns.dns.cluster.local. A 10.96.0.10', 'cluster.local. NS ns.dns.cluster.local.'],
  ],
  ['its name server', 'ns.dns.cluster.local', 'A', ['ns.dns.cluster.local. A 10.96.0.10']],
  ['no other family of it', 'ns.dns.cluster.local', 'AAAA', []],
  ['no pointer at it', 'ns.dns.cluster.local', 'PTR', 'missing'],
  [
    'NS of a reverse zone (DNS-21)',
    'in-addr.arpa',
    'NS',
    ['+ ns.dns.in-addr.arpa. A 10.96.0.10', 'in-addr.arpa. NS ns.dns.in-addr.arpa.'],
  ],
  [
    'the name server of a reverse zone',
    'ns.dns.in-addr.arpa',
    'A',
    ['ns.dns.in-addr.arpa. A 10.96.0.10'],
  ],
  ['a reverse zone itself', 'ip6.arpa', 'A', []],
  ['texts of a reverse zone are for others', 'ip6.arpa', 'TXT', 'elsewhere'],
  ['no text at the apex (DNS-21)', 'cluster.local', 'TXT', 'missing'],
  ['no text of a name that is there', c('web.a'), 'TXT', []],
  ['svc (DNS-21)', 'svc.cluster.local', 'A', []],
  ['a namespace (DNS-21)', c('b'), 'A', []],
  ['a namespace that is not there (DNS-21)', c('nope'), 'A', 'missing'],
  ['too many labels (DNS-22)', c('x.y.z.web.a'), 'A', 'missing'],
  ['neither svc nor pod (DNS-22)', 'web.a.cluster.local', 'A', 'missing'],
  ['no wildcard (DNS-24)', c('*.a'), 'A', 'missing'],
  [
    'a pod (DNS-23)',
    '1-2-3-4.a.pod.cluster.local',
    'A',
    ['1-2-3-4.a.pod.cluster.local. A 1.2.3.4'],
  ],
  [
    'a pod of IPv6 (DNS-23)',
    'fd44--1.a.pod.cluster.local',
    'AAAA',
    [`fd44--1.a.pod.cluster.local. AAAA ${fd44}`],
  ],
  [
    'SRV of a pod, with the port 0 (DNS-23)',
    '1-2-3-4.a.pod.cluster.local',
    'SRV',
    [
      '+ 1-2-3-4.a.pod.cluster.local. A 1.2.3.4',
      '1-2-3-4.a.pod.cluster.local. SRV 0 100 0 1-2-3-4.a.pod.cluster.local.',
    ],
  ],
  [
    'what is asked for below a pod leads to the pod (DNS-23)',
    'x.1-2-3-4.a.pod.cluster.local',
    'SRV',
    [
      '+ 1-2-3-4.a.pod.cluster.local. A 1.2.3.4',
      'x.1-2-3-4.a.pod.cluster.local. SRV 0 100 0 1-2-3-4.a.pod.cluster.local.',
    ],
  ],
  ['no pod without an address', '1-2-3.a.pod.cluster.local', 'A', 'missing'],
  ['no pod of a missing namespace', '1-2-3-4.c.pod.cluster.local', 'A', 'missing'],
  ['no transfer (DNS-27)', 'cluster.local', 'AXFR', 'refused'],
  ['other types of a name that is there', c('web.a'), 'MX', []],
  ['other types of a name that is not', c('nope.a'), 'MX', 'missing'],
  ['other names', 'example.com', 'A', 'elsewhere'],
];
for (const [what, text, type, wanted] of cases) {
  test(`answerCluster() ${what}`, () => assert.deepEqual(ask(text, type), wanted));
}

test('answerCluster() answers names of pods by mode (DNS-23)', () => {
  const pods = zoneOf({
    kind: 'pod',
    key: 'a/p',
    facts: { namespace: 'a', name: 'p', addresses: ['10.1.2.3'] },
  });
  const of = (label: string, mode: ClusterOptions['pods']) =>
    ask(`${label}.pod.cluster.local`, 'A', { pods: mode }, pods);
  assert.equal(of('10-1-2-3.a', 'disabled'), 'missing');
  assert.equal(of('10-1-2-3.a', 'verified').length, 1);
  assert.equal(of('10-1-2-4.a', 'verified'), 'missing');
  assert.equal(of('10-1-2-3.b', 'verified'), 'missing', 'of another namespace');
});

test('answerCluster() can hide services without endpoints (DNS-32)', () => {
  const of = zoneOf(service('a', 'idle', { clusterIP: '10.96.0.7', ports: [{ port: 1 }] }));
  assert.equal(ask(c('idle.a'), 'A', { ignoreEmptyService: true }, of), 'missing');
  of.apply(slice('a', 'idle', [{ address: '10.1.1.1' }]));
  assert.deepEqual(ask(c('idle.a'), 'A', { ignoreEmptyService: true }, of), ['idle.a A 10.96.0.7']);
});

test('answerCluster() names endpoints after pods with endpointPodNames (DNS-07)', () => {
  const of = zoneOf(
    service('a', 'db', { clusterIP: 'None' }),
    slice('a', 'db', [{ address: '10.1.1.1', pod: 'db-xyz' }], undefined, {
      endpointPodNames: true,
    }),
  );
  assert.deepEqual(ask(c('db-xyz.db.a'), 'A', {}, of), ['db-xyz.db.a A 10.1.1.1']);
});

test('answerCluster() returns NS records of the Services that this server is an endpoint of', () => {
  const of = zoneOf(
    service('a', 'kube-dns', { clusterIP: '10.96.0.10', ports: [{ port: 53 }] }),
    slice('a', 'kube-dns', [{ address: '10.244.0.2' }]),
  );
  assert.deepEqual(ask('cluster.local', 'NS', { ownAddresses: ['10.244.0.2'] }, of), [
    '+ kube-dns.a A 10.96.0.10',
    'cluster.local. NS kube-dns.a.svc.cluster.local.',
  ]);
});

test('answerCluster() merges all slices of a Service and drops duplicates (EPS-36)', () => {
  const of = zoneOf(
    service('a', 'db', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }),
    slice('a', 'db', [{ address: '10.1.1.1' }, { address: '10.1.1.2' }]),
    slice('a', 'db', [{ address: '10.1.1.2' }, { address: '10.1.1.3' }], undefined, {
      suffix: 'by-hand',
    }),
  );
  assert.deepEqual(
    ask(c('db.a'), 'A', {}, of),
    [1, 2, 3].map((n) => `db.a A 10.1.1.${n}`),
  );
  const targets = ask(c('_pg._tcp.db.a'), 'SRV', {}, of);
  assert.equal([...targets].filter((one) => one.includes('10-1-1-2.db.a.svc')).length, 1);
});

test('answerCluster() hides excluded namespaces and their addresses (DNS-26)', () => {
  const of = zoneOf(
    service('a', 'web', { clusterIP: '10.96.0.7', ports: [{ port: 80 }] }),
    slice('a', 'web', [{ address: '10.1.1.1' }]),
  );
  const questions = [
    [c('web.a'), 'A'],
    ['1.1.1.10.in-addr.arpa', 'PTR'],
    ['7.0.96.10.in-addr.arpa', 'PTR'],
    ['10-1-1-1.a.pod.cluster.local', 'A'],
  ] as const;
  const all = () => questions.map(([text, type]) => ask(text, type, {}, of));
  assert.deepEqual(
    all().map((found) => found.length > 0 && typeof found !== 'string'),
    [true, true, true, true],
  );
  of.apply({ kind: 'namespace', key: 'a', exists: false });
  assert.deepEqual(all(), ['missing', 'elsewhere', 'elsewhere', 'missing']);
});

test('answerCluster() without endpoints has no names of endpoints and headless Services (DNS-33)', () => {
  const of = zoneOf(
    service('a', 'web', { clusterIP: '10.96.0.7', ports: [{ port: 80 }] }),
    service('a', 'db', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }),
  );
  assert.deepEqual(ask(c('web.a'), 'A', {}, of), ['web.a A 10.96.0.7']);
  assert.equal(ask(c('10-1-1-1.web.a'), 'A', {}, of), 'missing');
  assert.equal(ask(c('db.a'), 'A', {}, of), 'missing');
  assert.equal(ask(c('_pg._tcp.db.a'), 'SRV', {}, of), 'missing');
});

for (const ttl of [0, 5, 30, 3600]) {
  test(`answerCluster() gives ${ttl} as the time to live of what is there (DNS-25)`, () => {
    for (const [text, type] of [
      [c('web.a'), 'A'],
      [c('_pg._tcp.db.a'), 'SRV'],
      [c('ext.a'), 'A'],
      ['1.50.96.10.in-addr.arpa', 'PTR'],
    ] as const) {
      const question = { name: name(text), type: types[type] };
      const outcome = answerCluster(zone, question, { ...options, ttl });
      assert.ok(outcome.kind === 'records' && outcome.answers.length > 0);
      const all = [...outcome.answers, ...outcome.additionals];
      assert.deepEqual(new Set(all.map((record) => record.ttl)), new Set([ttl]), text);
    }
  });
}
