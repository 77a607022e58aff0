import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderedPorts, portSetKey } from './port-set.ts';
import type { SlicePort } from './types.ts';

const dns: SlicePort = { name: 'dns', protocol: 'UDP', port: 8053 };
const dnsTcp: SlicePort = { name: 'dns-tcp', protocol: 'TCP', port: 8053 };

test('orderedPorts() returns upstream’s order for any input order', () => {
  assert.deepEqual(orderedPorts([dnsTcp, dns]), [dns, dnsTcp]);
  assert.deepEqual(orderedPorts([dns, dnsTcp]), [dns, dnsTcp]);
});

test('portSetKey() does not depend on the order', () => {
  assert.equal(portSetKey([dns, dnsTcp]), portSetKey([dnsTcp, dns]));
  assert.equal(portSetKey(null), portSetKey([]));
});

const different: readonly SlicePort[] = [
  { ...dns, name: 'x' },
  { ...dns, protocol: 'TCP' },
  { ...dns, port: 1 },
  { ...dns, appProtocol: 'http' },
  { name: 'dns', protocol: 'UDP' },
];

for (const port of different) {
  test(`portSetKey() differs for ${JSON.stringify(port)}`, () => {
    assert.notEqual(portSetKey([port]), portSetKey([dns]));
  });
}
