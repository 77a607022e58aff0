import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalHost } from './canonical-host.ts';

const same: readonly (readonly [string, readonly string[]])[] = [
  ['kubernetes.default.svc', ['KUBERNETES.default.svc', 'kubernetes.default.svc.']],
  [
    '10.96.0.1',
    ['::ffff:a60:1', '::ffff:10.96.0.1', '010.096.000.001', '0:0:0:0:0:FFFF:0A60:0001'],
  ],
  ['fd00::1', ['FD00:0:0:0:0:0:0:1', 'fd00:0000::0001']],
  ['*.default.svc', ['*.DEFAULT.svc.']],
];
for (const [canonical, others] of same) {
  test(`canonicalHost() of ${canonical}`, () => {
    for (const text of [canonical, ...others]) assert.equal(canonicalHost(text), canonical, text);
  });
}
