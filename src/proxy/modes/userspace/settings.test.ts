import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('readSettings() has upstream defaults (USR-06, USR-10)', () => {
  const { limits, ports } = readSettings({});
  assert.equal(limits.udpIdleMs, 250);
  assert.equal(ports, undefined);
});

test('readSettings() takes a range of ports and a time', () => {
  const { limits, ports } = readSettings({
    'proxy-port-range': '40000-40010',
    'udp-timeout': '1.5s',
  });
  assert.equal(limits.udpIdleMs, 1500);
  assert.deepEqual(ports, { first: 40_000, last: 40_010 });
});

for (const [name, value] of [
  ['proxy-port-range', '40000-'],
  ['proxy-port-range', '9-5'],
  ['udp-timeout', '0s'],
  ['udp-timeout', 'soon'],
] as const) {
  test(`readSettings() refuses ${name} "${value}" and says what would be right`, () => {
    assert.throws(() => readSettings({ [name]: value }), new RegExp(`--${name}.*must be`));
  });
}
