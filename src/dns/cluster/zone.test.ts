import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice, zoneOf } from './example.ts';

const web = service('a', 'web', { clusterIP: '10.96.0.1', ports: [{ port: 80 }] });

test('a change of a slice ends only answers about its service (DNS-31)', () => {
  const zone = zoneOf(web, slice('a', 'web', [{ address: '10.1.1.1' }]));
  const [own, other] = [zone.validity('a', 'web'), zone.validity('a', 'other')];
  zone.apply(slice('a', 'web', [{ address: '10.1.1.2' }]));
  assert.equal(own.isCurrent, false);
  assert.equal(other.isCurrent, true);
  assert.equal(zone.validity('a', 'web').isCurrent, true, 'a new one');
});

test('a service that appears ends the answers that it is not there (DNS-31)', () => {
  const zone = zoneOf();
  const validity = zone.validity('a', 'web');
  zone.apply(web);
  assert.equal(validity.isCurrent, false);
});

test('a namespace ends the answers about its services (DNS-31)', () => {
  const zone = zoneOf();
  const [own, other] = [zone.validity('c', 'web'), zone.validity('cc', 'web')];
  zone.apply({ kind: 'namespace', key: 'c', exists: true });
  assert.deepEqual([own.isCurrent, other.isCurrent], [false, true]);
});

test('addresses are found as long as somebody has them', () => {
  const zone = zoneOf(
    web,
    slice('a', 'web', [{ address: '10.1.1.1' }]),
    slice('b', 'db', [{ address: '10.1.1.1' }]),
  );
  assert.equal(zone.serviceAt('10.96.0.1')?.name, 'web');
  assert.equal(zone.slicesAt('10.1.1.1').length, 2);
  zone.apply({ kind: 'slice', key: 'a/web-x' });
  assert.deepEqual(
    zone.slicesAt('10.1.1.1').map((one) => one.service),
    ['db'],
  );
  zone.apply({ kind: 'slice', key: 'b/db-x' });
  zone.apply({ kind: 'service', key: 'a/web' });
  assert.deepEqual(zone.slicesAt('10.1.1.1'), []);
  assert.equal(zone.serviceAt('10.96.0.1'), undefined);
  assert.deepEqual(zone.size(), { services: 0, endpoints: 0 });
});

test('a slice that moves to another service leaves the first', () => {
  const zone = zoneOf(slice('a', 'web', [{ address: '10.1.1.1' }]));
  const moved = slice('a', 'db', [{ address: '10.1.1.1' }]);
  zone.apply({ ...moved, key: 'a/web-x' });
  assert.deepEqual(zone.slices('a', 'web'), []);
  assert.equal(zone.slices('a', 'db').length, 1);
});

test('strangers who ask for services that are not there cannot fill the memory', () => {
  const zone = zoneOf();
  const first = zone.validity('a', 'first');
  for (let index = 0; index < 100_000; index += 1) zone.validity('a', `x${index}`);
  assert.equal(first.isCurrent, false);
});
