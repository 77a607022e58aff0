import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResolverConfig } from './resolv-conf.ts';
import { name } from './wire/example.ts';

test('parseResolverConfig() reads servers and the last search list (DNS-35)', () => {
  const text = `# a comment
nameserver 192.0.2.1
nameserver\t2001:db8::1 ; another
nameserver fe80::1%eth0
nameserver not-an-address
domain old.example
search a.example  b.example
options ndots:5
`;
  assert.deepEqual(parseResolverConfig(text), {
    servers: ['192.0.2.1', '2001:db8::1', 'fe80::1%eth0'],
    search: [name('a.example'), name('b.example')],
  });
});

test('parseResolverConfig() of an empty file has no servers', () => {
  assert.deepEqual(parseResolverConfig(''), { servers: [], search: [] });
});
