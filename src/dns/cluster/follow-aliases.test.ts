import assert from 'node:assert/strict';
import { test } from 'node:test';
import { name } from '../wire/example.ts';
import { nameText } from '../wire/names.ts';
import { typeName, types } from '../wire/record-types.ts';
import { answerCluster, type ClusterOptions } from './answer.ts';
import { service, slice, zoneOf } from './example.ts';
import type { Zone, ZoneChange } from './zone.ts';

const options: ClusterOptions & { readonly serial: () => number } = {
  domain: name('c.local'),
  ttl: 30,
  versionTtl: 30,
  pods: 'disabled',
  ignoreEmptyService: false,
  ownAddresses: ['10.96.0.10'],
  serial: () => 1,
};

const short = (text: string): string => text.replace('.svc.c.local.', '');

/** One line per record in order; `?` marks names outside of the cluster. */
function ask(zone: Zone, text: string, type: keyof typeof types = 'A'): readonly string[] | string {
  const question = { name: name(`${text}.svc.c.local`), type: types[type] };
  const outcome = answerCluster(zone, question, options);
  if (outcome.kind !== 'records' && outcome.kind !== 'alias') return outcome.kind;
  const ways = outcome.kind === 'alias' ? outcome.paths : [{ records: outcome.answers }];
  return ways.flatMap(({ records, target }) => [
    ...records.map(({ name: owner, type: of, data }) => {
      const [first] = data;
      const value = typeof first === 'string' ? short(nameText(first)) : first?.join('.');
      return `${short(nameText(owner))} ${typeName(of)} ${value}`;
    }),
    ...(target === undefined ? [] : [`? ${nameText(target)}`]),
  ]);
}

const headless = (serviceName: string): ZoneChange =>
  service('a', serviceName, { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] });
const of = (serviceName: string, ...addresses: readonly string[]): ZoneChange =>
  slice(
    'a',
    serviceName,
    addresses.map((address) => ({ address })),
  );

test('followAliases() returns CNAME records for FQDN endpoints (EPS-01)', () => {
  const zone = zoneOf(headless('db'), of('db', 'one.example.com', 'two.example.com.'));
  assert.deepEqual(ask(zone, 'db.a'), [
    'db.a CNAME one.example.com.',
    '? one.example.com.',
    'db.a CNAME two.example.com.',
    '? two.example.com.',
  ]);
  assert.deepEqual(ask(zone, 'db.a', 'CNAME'), ['db.a CNAME one.example.com.']);
  assert.deepEqual(ask(zone, '_pg._tcp.db.a', 'SRV'), []);
  assert.equal(ask(zone, '_other._tcp.db.a'), 'missing');
});

test('followAliases() labels an FQDN endpoint by its hostname, or by its name with dashes', () => {
  const named = slice('a', 'db', [{ address: 'one.example.com', hostname: 'first' }]);
  const zone = zoneOf(headless('db'), named, headless('web'), of('web', 'two.example.com'));
  const first = ['first.db.a CNAME one.example.com.', '? one.example.com.'];
  assert.deepEqual(ask(zone, 'first.db.a'), first);
  assert.equal(ask(zone, 'one-example-com.db.a'), 'missing');
  const second = ['two-example-com.web.a CNAME two.example.com.', '? two.example.com.'];
  assert.deepEqual(ask(zone, 'two-example-com.web.a'), second);
});

test('followAliases() mixes names and addresses, and recognizes addresses in FQDN slices', () => {
  const zone = zoneOf(
    headless('db'),
    of('db', '10.1.1.1'),
    slice('a', 'db', [{ address: 'one.example.com' }, { address: '10.1.1.2' }], undefined, {
      suffix: 'names',
    }),
  );
  assert.deepEqual(ask(zone, 'db.a'), [
    'db.a A 10.1.1.1',
    'db.a A 10.1.1.2',
    'db.a CNAME one.example.com.',
    '? one.example.com.',
  ]);
});

test('followAliases() follows names of the cluster, each once', () => {
  const zone = zoneOf(
    headless('top'),
    of('top', 'left.a.svc.c.local', 'right.a.svc.c.local', 'nowhere.a.svc.c.local'),
    headless('left'),
    of('left', 'end.a.svc.c.local'),
    headless('right'),
    of('right', 'end.a.svc.c.local'),
    service('a', 'end', { clusterIP: '10.96.0.1', ports: [{ port: 80 }] }),
  );
  assert.deepEqual(ask(zone, 'top.a'), [
    'top.a CNAME left.a',
    'left.a CNAME end.a',
    'end.a A 10.96.0.1',
    'top.a CNAME right.a',
    'right.a CNAME end.a',
  ]);
});

test('followAliases() ends on cycles of many names', () => {
  const all = Array.from({ length: 30 }, (_, i) => `s${i}`);
  const targets = all.map((one) => `${one}.a.svc.c.local`);
  const zone = zoneOf(...all.flatMap((one) => [headless(one), of(one, ...targets)]));
  assert.deepEqual(ask(zone, 's0.a'), []);
});

test('followAliases() ends a chain after eight aliases', () => {
  const chain = Array.from({ length: 9 }, (_, i) =>
    service('a', `s${i}`, { type: 'ExternalName', externalName: `s${i + 1}.a.svc.c.local` }),
  );
  const zone = zoneOf(...chain, service('a', 's9', { clusterIP: '10.96.0.1', ports: [] }));
  assert.deepEqual(ask(zone, 's0.a'), []);
  assert.equal(ask(zone, 's1.a').length, 9);
});

test('nameServers() ignores FQDN endpoints', () => {
  const own = [{ address: 'one.example.com' }, { address: '10.96.0.10' }];
  const zone = zoneOf(headless('dns'), slice('a', 'dns', own));
  const question = { name: name('c.local'), type: types.NS };
  const outcome = answerCluster(zone, question, options);
  assert.ok(outcome.kind === 'records');
  assert.deepEqual(
    outcome.answers.map(({ data }) =>
      data.map((part) => (typeof part === 'string' ? nameText(part) : '')),
    ),
    [['ns.dns.c.local.']],
  );
});
