import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleServicePort, localEndpoint, remoteEndpoint } from '../../model/example-state.ts';
import { affinityNumber, portChainName } from './names.ts';

test('portChainName() has a hash and words (NFT-04)', () => {
  const port = exampleServicePort({ namespace: 'ns1', name: 'svc1', portName: 'p80' });
  assert.equal(portChainName('service', port), 'service-ULMVA6XW-ns1/svc1/tcp/p80');
});

test('portChainName() stays below the longest name that the kernel takes, and apart', () => {
  const long = (end: string) =>
    exampleServicePort({
      namespace: 'n'.repeat(63),
      name: 's'.repeat(63),
      portName: `${'p'.repeat(150)}${end}`,
    });
  const names = [portChainName('internal', long('a')), portChainName('internal', long('b'))];
  assert.ok(names.every((name) => name.length <= 255));
  assert.equal(new Set(names).size, 2);
});

test('affinityNumber() tells endpoints and service ports apart, in 32 bits (KPX-23)', () => {
  const web = exampleServicePort();
  const shop = exampleServicePort({ name: 'shop' });
  const numbers = [
    affinityNumber(web, localEndpoint),
    affinityNumber(web, remoteEndpoint),
    affinityNumber(shop, localEndpoint),
  ];
  assert.equal(new Set(numbers).size, 3);
  assert.ok(numbers.every((number) => number >= 0 && number <= 0xffffffff));
});
