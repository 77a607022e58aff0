import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleState } from '../../model/example-state.ts';
import { desiredRules } from './desired.ts';
import {
  type ChainMap,
  chainKey,
  diffChains,
  diffForeign,
  keepReferenced,
  ownChains,
  type TextChain,
} from './diff.ts';
import { defaultSettings } from './layout.ts';
import { parseSaved } from './saved-rules.ts';

function chains(...list: readonly TextChain[]): ChainMap {
  return new Map(list.map((chain) => [chainKey(chain), chain]));
}

const service = { table: 'nat', name: 'KUBE-SVC-AAAAAAAAAAAAAAAA' } as const;
const refused = { table: 'filter', name: 'KUBE-SERVICES' } as const;

test('diffChains() writes what is new or different and removes what is not wanted', () => {
  const before = chains(
    { ...service, lines: ['-m statistic --mode random --probability 0.33333333349 -j A', '-j B'] },
    { table: 'nat', name: 'KUBE-SEP-AAAAAAAAAAAAAAAA', lines: [] },
    { table: 'nat', name: 'KUBE-SERVICES', lines: ['-j A'] },
  );
  const same = {
    ...service,
    lines: ['-m statistic --mode random --probability 0.3333333333 -j A', '-j B'],
  };
  const list = { table: 'nat', name: 'KUBE-SERVICES', lines: ['-j A', '-j B'] } as const;
  const fresh = { table: 'nat', name: 'KUBE-SEP-BBBBBBBBBBBBBBBB', lines: [] } as const;
  const { write, remove, refusesMore } = diffChains(before, chains(same, list, fresh));
  assert.deepEqual(write, [list, fresh]);
  assert.deepEqual(
    remove.map(({ name }) => name),
    ['KUBE-SEP-AAAAAAAAAAAAAAAA'],
  );
  assert.equal(refusesMore, false);
});

test('diffChains() says when more is refused than before', () => {
  const one = { ...refused, lines: ['-d 10.96.0.1/32 -j REJECT'] };
  const other = { ...refused, lines: ['-d 10.96.0.2/32 -j REJECT'] };
  const none = { ...refused, lines: [] };
  assert.equal(diffChains(chains(none), chains(one)).refusesMore, true);
  assert.equal(diffChains(chains(one), chains(other)).refusesMore, true);
  assert.equal(diffChains(chains(one), chains(none)).refusesMore, false);
});

test('keepReferenced() flushes a chain that a rule of another program jumps to', () => {
  const saved = parseSaved(`*nat
:PREROUTING ACCEPT [0:0]
:OTHERS - [0:0]
:KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]
:KUBE-SVC-BBBBBBBBBBBBBBBB - [0:0]
-A OTHERS -j KUBE-SVC-AAAAAAAAAAAAAAAA
-A KUBE-SVC-AAAAAAAAAAAAAAAA -j KUBE-SVC-BBBBBBBBBBBBBBBB
`);
  const { write, remove } = keepReferenced(diffChains(ownChains(saved), new Map()), saved);
  assert.deepEqual(
    write.map(({ name, lines }) => ({ name, lines })),
    [{ name: 'KUBE-SVC-AAAAAAAAAAAAAAAA', lines: [] }],
  );
  assert.deepEqual(
    remove.map(({ name }) => name),
    ['KUBE-SVC-BBBBBBBBBBBBBBBB'],
  );
});

const { foreign } = desiredRules(exampleState([]), defaultSettings);
const portals = '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES';

function changesIn(saved: string, chain: string): readonly string[] {
  return diffForeign(parseSaved(saved), foreign, 'IPv4')
    .filter((change) => change.chain === chain)
    .map((change) => (change.kind === 'create' ? change.kind : `${change.kind} ${change.line}`));
}

test('diffForeign() puts our jumps at the top of built-in chains, once', () => {
  assert.deepEqual(changesIn('*nat\n-A PREROUTING -j OTHERS\n', 'PREROUTING'), [
    `insert ${portals}`,
  ]);
  assert.deepEqual(changesIn(`*nat\n-A PREROUTING ${portals}\n`, 'PREROUTING'), []);
  const twice = `*nat\n-A PREROUTING ${portals}\n-A PREROUTING -j OTHERS\n-A PREROUTING ${portals}\n`;
  assert.deepEqual(changesIn(twice, 'PREROUTING'), [
    `delete ${portals}`,
    `delete ${portals}`,
    `insert ${portals}`,
  ]);
});

test('diffForeign() takes away jumps of older versions', () => {
  const old = '-m conntrack --ctstate NEW -j KUBE-SERVICES';
  assert.deepEqual(changesIn(`*nat\n-A PREROUTING ${old}\n`, 'PREROUTING'), [
    `delete ${old}`,
    `insert ${portals}`,
  ]);
});

test('diffForeign() adds to the chain that kubelet has too, and does not empty it (IPT-09)', () => {
  const guard =
    '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
  assert.deepEqual(changesIn('', 'KUBE-FIREWALL'), ['create', `append ${guard}`]);
  assert.deepEqual(
    changesIn('*filter\n-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP\n', 'KUBE-FIREWALL'),
    [`append ${guard}`],
  );
  assert.deepEqual(changesIn(`*filter\n-A KUBE-FIREWALL ${guard}\n`, 'KUBE-FIREWALL'), []);
  const old = guard.replace('DROP', 'REJECT');
  assert.deepEqual(changesIn(`*filter\n-A KUBE-FIREWALL ${old}\n`, 'KUBE-FIREWALL'), [
    `delete ${old}`,
    `append ${guard}`,
  ]);
});
