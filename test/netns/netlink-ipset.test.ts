import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { createNamespace, type HeldNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import {
  type Ipset,
  type IpsetEntry,
  type Ipsets,
  openIpsets,
} from '../../src/host/netlink/ipset.ts';

let namespace: HeldNamespace;
let ipsets: Ipsets;

before(async () => {
  namespace = createNamespace();
  ipsets = await openIpsets({ namespacePath: namespace.path });
});

after(async () => {
  await ipsets.close();
  namespace.release();
});

const cases: readonly (Pick<Ipset, 'type' | 'family'> & {
  readonly entries: readonly IpsetEntry[];
  /** As the ipset program prints them. */
  readonly printed: readonly string[];
})[] = [
  {
    type: 'bitmap:port',
    family: 'IPv4',
    entries: [{ port: 30080 }, { port: 31000 }],
    printed: ['30080', '31000'],
  },
  { type: 'hash:ip', family: 'IPv6', entries: [{ address: 'fd00::1' }], printed: ['fd00::1'] },
  {
    type: 'hash:ip,port',
    family: 'IPv4',
    entries: [
      { address: '10.96.0.1', protocol: 'SCTP', port: 9 },
      { address: '10.96.0.1', protocol: 'TCP', port: 443 },
    ],
    printed: ['10.96.0.1,sctp:9', '10.96.0.1,tcp:443'],
  },
  {
    type: 'hash:ip,port,ip',
    family: 'IPv6',
    entries: [{ address: 'fd00::1', protocol: 'UDP', port: 53, source: 'fd00::1' }],
    printed: ['fd00::1,udp:53,fd00::1'],
  },
  {
    type: 'hash:ip,port,net',
    family: 'IPv4',
    entries: [
      { address: '10.96.0.1', protocol: 'TCP', port: 80, source: '10.0.0.0/8' },
      { address: '10.96.0.1', protocol: 'TCP', port: 80, source: '192.0.2.1' },
    ],
    printed: ['10.96.0.1,tcp:80,10.0.0.0/8', '10.96.0.1,tcp:80,192.0.2.1'],
  },
];

for (const { type, family, entries, printed } of cases) {
  test(`${type}: create, add, list, remove, destroy, each of them twice`, async () => {
    const set: Ipset = { name: `test-${family}`, type, family };
    for (let round = 0; round < 2; round++) {
      await ipsets.create(set);
      for (const entry of entries) await ipsets.add(set, entry);
    }
    assert.deepEqual((await ipsets.list(set)).sort(byText), entries.toSorted(byText));
    assert.deepEqual(members(set.name), printed);
    const [first] = entries;
    assert.ok(first !== undefined);
    for (let round = 0; round < 2; round++) await ipsets.remove(set, first);
    assert.equal((await ipsets.list(set)).length, entries.length - 1);
    for (let round = 0; round < 2; round++) await ipsets.destroy(set.name);
    await assert.rejects(ipsets.list(set), { code: 'ENOENT' });
  });
}

test('swap() exchanges entries, flush() empties, a full set says so', async () => {
  const make = (name: string): Ipset => ({ name, type: 'hash:ip', family: 'IPv4', mostEntries: 1 });
  const one = make('one');
  const two = make('two');
  for (const set of [one, two]) await ipsets.create(set);
  await ipsets.add(one, { address: '10.0.0.1' });
  await ipsets.swap('one', 'two');
  assert.deepEqual(await ipsets.list(one), []);
  assert.deepEqual(await ipsets.list(two), [{ address: '10.0.0.1' }]);
  await ipsets.flush('two');
  assert.deepEqual(await ipsets.list(two), []);
  await ipsets.add(two, { address: '10.0.0.1' });
  await assert.rejects(ipsets.add(two, { address: '10.0.0.2' }), { name: 'NetlinkError' });
});

function members(name: string): string[] {
  const { stdout } = insideNamespace(namespace.path, () =>
    spawnSync('ipset', ['list', name], { encoding: 'utf8' }),
  );
  return stdout.slice(stdout.indexOf('Members:')).split('\n').slice(1).filter(Boolean).sort();
}

function byText(a: IpsetEntry, b: IpsetEntry): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
