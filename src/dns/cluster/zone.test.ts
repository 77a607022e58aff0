import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice, zoneOf } from './example.ts';

const web = service('a', 'web', { clusterIP: '10.96.0.1', ports: [{ port: 80 }] });

test('apply() of a slice invalidates only answers about its Service (DNS-31)', () => {
  const zone = zoneOf(web, slice('a', 'web', [{ address: '10.1.1.1' }]));
  const [own, other] = [zone.validity('a', 'web'), zone.validity('a', 'other')];
  zone.apply(slice('a', 'web', [{ address: '10.1.1.2' }]));
  assert.equal(own.isCurrent, false);
  assert.equal(other.isCurrent, true);
  assert.equal(zone.validity('a', 'web').isCurrent, true, 'a new one');
});

test('apply() of a new Service invalidates its negative answers (DNS-31)', () => {
  const zone = zoneOf();
  const validity = zone.validity('a', 'web');
  zone.apply(web);
  assert.equal(validity.isCurrent, false);
});

test('apply() of a namespace invalidates the answers about its Services (DNS-31)', () => {
  const zone = zoneOf();
  const [own, other] = [zone.validity('c', 'web'), zone.validity('cc', 'web')];
  zone.apply({ kind: 'namespace', key: 'c', exists: true });
  assert.deepEqual([own.isCurrent, other.isCurrent], [false, true]);
});

test('slicesAt() and podsAt() find an address while an object has it', () => {
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

test('apply() moves a slice to another Service', () => {
  const zone = zoneOf(slice('a', 'web', [{ address: '10.1.1.1' }]));
  const moved = slice('a', 'db', [{ address: '10.1.1.1' }]);
  zone.apply({ ...moved, key: 'a/web-x' });
  assert.deepEqual(zone.slices('a', 'web'), []);
  assert.equal(zone.slices('a', 'db').length, 1);
});

test('validity() stays bounded when clients query many missing Services', () => {
  const zone = zoneOf();
  const first = zone.validity('a', 'first');
  for (let index = 0; index < 100_000; index += 1) zone.validity('a', `x${index}`);
  assert.equal(first.isCurrent, false);
});
