import assert from 'node:assert/strict';
import { test } from 'node:test';
import { name } from '../wire/example.ts';
import { rootName } from '../wire/names.ts';
import { createServerHealth, groupFor, serverText } from './upstream-servers.ts';

const one = { host: '192.0.2.1', port: 53 };
const two = { host: '192.0.2.2', port: 53 };

test('groupFor() chooses the longest matching zone (DNS-35)', () => {
  const groups = [
    { zone: rootName, servers: [one] },
    { zone: name('example.com'), servers: [two] },
  ];
  assert.equal(groupFor(groups, name('www.example.com')), groups[1]);
  assert.equal(groupFor(groups, name('notexample.com')), groups[0]);
  assert.equal(groupFor(groups.slice(1), name('other.org')), undefined);
});

test('order() puts servers last after two failures in a row', () => {
  const health = createServerHealth(() => 0);
  assert.deepEqual(health.order([one, two]), [one, two]);
  assert.equal(health.failed(one), false);
  assert.equal(health.failed(one), true, 'has gone down now');
  assert.equal(health.failed(one), false, 'was down before');
  assert.deepEqual(health.order([one, two]), [two, one]);
  health.worked(one);
  assert.deepEqual(health.order([one, two]), [one, two]);
});

test('order() starts at a random server', () => {
  assert.deepEqual(createServerHealth(() => 0.7).order([one, two]), [two, one]);
});

test('serverText() puts IPv6 in brackets', () => {
  assert.equal(serverText({ host: '::1', port: 53 }), '[::1]:53');
  assert.equal(serverText(one), '192.0.2.1:53');
});
