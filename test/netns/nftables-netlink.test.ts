// The same transaction as text through the nft program in one namespace and over netlink in another: nft must list
// both alike, and our own reading must give back what was written.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import type { Element, NftSet, Operation, Transaction } from '../../src/host/nftables/objects.ts';
import { openNftables } from '../../src/host/nftables/open-nftables.ts';
import { renderTransaction } from '../../src/host/nftables/render-text.ts';
import { ruleExpressions } from '../../src/host/nftables/rule-expressions.ts';
import { everyKind, everySet } from './nftables-transaction.ts';

const families = ['ip', 'ip6'] as const;

for (const family of families) {
  test(`${family}: nft lists netlink's rules as those of its own text`, async () => {
    const transaction = everyKind(family);
    const byText = createNamespace();
    const byNetlink = createNamespace();
    nft(byText.path, ['-f', '-'], renderTransaction(transaction));
    const nftables = await openNftables({ namespacePath: byNetlink.path });
    await nftables.apply(transaction);
    await nftables.close();
    assert.deepEqual(listing(byNetlink.path), listing(byText.path));
    assert.equal(nft(byNetlink.path, ['list', 'ruleset']), nft(byText.path, ['list', 'ruleset']));
    byText.release();
    byNetlink.release();
  });

  test(`${family}: what was written reads back equal`, async () => {
    const transaction = everyKind(family);
    const namespace = createNamespace();
    const nftables = await openNftables({ namespacePath: namespace.path, thread: 'caller' });
    await nftables.apply(transaction);
    const table = await nftables.readTable(transaction.table);
    assert.deepEqual(
      byName(table?.chains ?? []),
      byName(operands(transaction, 'add-chain').map((o) => o.chain)),
    );
    assert.deepEqual(byName(table?.sets ?? []), byName(everySet()));
    for (const { chain } of operands(transaction, 'add-chain')) {
      const wanted = operands(transaction, 'add-rule').filter(
        ({ rule }) => rule.chain === chain.name,
      );
      assert.deepEqual(
        table?.rules
          .filter((rule) => rule.chain === chain.name)
          .map((rule) => rule.readExpressions()),
        wanted.map(({ rule }) => ruleExpressions(rule, family)),
      );
    }
    for (const { set, elements } of operands(transaction, 'add-elements')) {
      const listed = await nftables.readElements(transaction.table, set);
      assert.deepEqual(byKey(listed), byKey(elements), set.name);
    }
    await nftables.close();
    namespace.release();
  });

  test(`${family}: everything can be taken back one by one, elements first`, async () => {
    const transaction = everyKind(family);
    const { table } = transaction;
    const namespace = createNamespace();
    const nftables = await openNftables({ namespacePath: namespace.path });
    await nftables.apply(transaction);
    await nftables.apply({
      table,
      operations: operands(transaction, 'add-elements').map(({ set, elements }) => ({
        kind: 'delete-elements',
        set,
        elements,
      })),
    });
    for (const set of everySet()) {
      assert.deepEqual(await nftables.readElements(table, set), [], set.name);
    }
    const chains = operands(transaction, 'add-chain').map(({ chain }) => chain.name);
    await nftables.apply({
      table,
      operations: [
        ...chains.map((chain): Operation => ({ kind: 'flush-chain', chain })),
        ...everySet().map(({ name }): Operation => ({ kind: 'delete-set', set: name })),
        ...chains.map((chain): Operation => ({ kind: 'delete-chain', chain })),
      ],
    });
    assert.deepEqual(await nftables.readTable(table), { chains: [], rules: [], sets: [] });
    assert.deepEqual(await nftables.readElements(table, { name: 'gone', key: ['port'] }), []);
    await nftables.apply({ table, operations: [{ kind: 'delete-table' }] });
    assert.equal(await nftables.readTable(table), undefined);
    assert.deepEqual(await nftables.listTables(), []);
    await nftables.close();
    namespace.release();
  });
}

const table = { family: 'ip', name: 'fairlead-test' } as const;
const numbers: NftSet = { name: 'numbers', key: ['address', 'port'], data: ['address', 'port'] };
const add = (elements: readonly Element[]): Transaction => ({
  table,
  operations: [
    { kind: 'add-table' },
    { kind: 'add-set', set: numbers },
    { kind: 'add-elements', set: numbers, elements },
  ],
});

test('a transaction of 100,000 elements is one change, and comes back whole', async () => {
  const namespace = createNamespace();
  const nftables = await openNftables({ namespacePath: namespace.path });
  const elements = Array.from({ length: 100_000 }, (_, at): Element => {
    const address = `10.${at >> 16}.${(at >> 8) & 0xff}.${at & 0xff}`;
    return { key: [address, (at % 65535) + 1], data: [address, 80] };
  });
  const before = await nftables.readGeneration();
  await nftables.apply(add(elements));
  assert.equal(await nftables.readGeneration(), before + 1);
  assert.deepEqual(byKey(await nftables.readElements(table, numbers)), byKey(elements));
  await nftables.close();
  namespace.release();
});

test('a refused operation is named, and nothing of its transaction happened', async () => {
  const namespace = createNamespace();
  const nftables = await openNftables({ namespacePath: namespace.path });
  const element = { key: ['10.0.0.1', 1], data: ['10.0.0.2', 2] };
  const { operations } = add([element]);
  await assert.rejects(
    nftables.apply({
      table,
      operations: [...operations, { kind: 'delete-chain', chain: 'not-there' }],
    }),
    { name: 'NetlinkError', code: 'ENOENT', sequence: 4 },
  );
  assert.equal(await nftables.readTable(table), undefined);
  await nftables.apply(add([element]));
  await assert.rejects(nftables.apply(add([{ ...element, data: ['10.0.0.3', 3] }])), {
    sequence: 3,
  });
  await nftables.apply(add([element]));
  assert.deepEqual(await nftables.readElements(table, numbers), [element]);
  await nftables.close();
  namespace.release();
});

test('a batch for an older generation is refused', async () => {
  const namespace = createNamespace();
  const nftables = await openNftables({ namespacePath: namespace.path });
  const generation = await nftables.readGeneration();
  await nftables.apply(add([]), { generation });
  await assert.rejects(nftables.apply(add([]), { generation }), { code: 'ERESTART' });
  await nftables.apply(add([]), { generation: generation + 1 });
  await nftables.close();
  namespace.release();
});

function operands<Kind extends Operation['kind']>(
  { operations }: Transaction,
  kind: Kind,
): Extract<Operation, { kind: Kind }>[] {
  return operations.filter(
    (operation): operation is Extract<Operation, { kind: Kind }> => operation.kind === kind,
  );
}

function nft(path: string, args: readonly string[], input = ''): string {
  const result = insideNamespace(path, () => spawnSync('nft', args, { input, encoding: 'utf8' }));
  assert.equal(result.stderr, '');
  return result.stdout;
}

/** nft's JSON without the numbers that the kernel gives. */
function listing(path: string): unknown {
  const text = nft(path, ['-j', 'list', 'ruleset']);
  return JSON.parse(text, (key, value) => (key === 'handle' ? undefined : value));
}

function byName<Entry extends { readonly name: string }>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function byKey(elements: readonly Element[]): Element[] {
  return elements
    .map((element) => ({ element, text: element.key.join(' ') }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ element }) => element);
}
