import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Changes } from './diff.ts';
import { type RenderOptions, render } from './render.ts';

const none: Changes = { write: [], remove: [], foreign: [], refusesMore: false };
const large = { blockBytes: 250_000 };

function blocksOf(changes: Changes, options: RenderOptions): readonly string[] {
  return [...render(changes, options)];
}

test('render() makes chains before what leads to them, and removes them after (IPT-11)', () => {
  const changes: Changes = {
    ...none,
    write: [
      { table: 'nat', name: 'KUBE-SERVICES', lines: ['-d 10.96.0.1/32 -j KUBE-SVC-B'] },
      { table: 'nat', name: 'KUBE-SVC-B', lines: ['-j KUBE-SEP-C'] },
      { table: 'nat', name: 'KUBE-SEP-C', lines: ['-p tcp -j DNAT --to-destination 10.0.0.1:80'] },
      { table: 'mangle', name: 'KUBE-PROXY-CANARY', lines: [] },
    ],
    remove: [
      { table: 'nat', name: 'KUBE-SEP-X' },
      { table: 'nat', name: 'KUBE-SVC-X' },
    ],
    foreign: [
      { kind: 'delete', table: 'nat', chain: 'OUTPUT', line: '-j KUBE-OLD' },
      { kind: 'insert', table: 'nat', chain: 'OUTPUT', line: '-j KUBE-SERVICES' },
      { kind: 'create', table: 'nat', chain: 'KUBE-FIREWALL' },
    ],
  };
  const wanted = `*mangle
:KUBE-PROXY-CANARY - [0:0]
COMMIT
*nat
:KUBE-FIREWALL - [0:0]
:KUBE-SEP-C - [0:0]
:KUBE-SEP-X - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-B - [0:0]
:KUBE-SVC-X - [0:0]
-A KUBE-SEP-C -p tcp -j DNAT --to-destination 10.0.0.1:80
-A KUBE-SVC-B -j KUBE-SEP-C
-A KUBE-SERVICES -d 10.96.0.1/32 -j KUBE-SVC-B
-D OUTPUT -j KUBE-OLD
-I OUTPUT -j KUBE-SERVICES
-X KUBE-SVC-X
-X KUBE-SEP-X
COMMIT
`;
  assert.equal(blocksOf(changes, large).join(''), wanted);
});

test('render() cuts much into blocks, in the same order', () => {
  const chain = (name: string): Changes['write'][number] => ({
    table: 'nat',
    name,
    lines: ['-j RETURN'],
  });
  const write = ['KUBE-SERVICES-1', 'KUBE-SVC-B', 'KUBE-EXT-A', 'KUBE-SVC-A', 'KUBE-FW-A'].map(
    chain,
  );
  const blocks = blocksOf({ ...none, write }, { blockBytes: 150 });
  assert.deepEqual(
    blocks.map((block) => block.match(/(?<=^:)\S+/gm)),
    [['KUBE-SVC-A', 'KUBE-SVC-B'], ['KUBE-EXT-A', 'KUBE-FW-A'], ['KUBE-SERVICES-1']],
  );
  // Chains are declared by name, and filled in the order in which they were given.
  assert.deepEqual(blocks[0]?.match(/(?<=^-A )\S+/gm), ['KUBE-SVC-B', 'KUBE-SVC-A']);
  assert.equal(blocksOf({ ...none, write }, { blockBytes: Number.POSITIVE_INFINITY }).length, 1);
});

test('render() refuses before translation ends, and translates before refusal ends (IPT-06)', () => {
  const write: Changes['write'] = [
    { table: 'nat', name: 'KUBE-SERVICES', lines: [] },
    { table: 'filter', name: 'KUBE-SERVICES', lines: [] },
  ];
  const order = (refusesMore: boolean): readonly string[] =>
    blocksOf({ ...none, write, refusesMore }, large).map((block) => block.split('\n')[0] ?? '');
  assert.deepEqual(order(true), ['*filter', '*nat']);
  assert.deepEqual(order(false), ['*nat', '*filter']);
});

test('render() says nothing when there is nothing to do', () => {
  assert.deepEqual(blocksOf(none, large), []);
});
