import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation } from '../../../host/nftables/objects.ts';
import { exampleNode, exampleServicePort, localEndpoint } from '../../model/example-state.ts';
import type { Endpoint, ServicePort } from '../../model/state.ts';
import { desiredForNode, desiredForPort } from './desired.ts';
import {
  type Difference,
  diffFragments,
  diffTable,
  isAllThere,
  type TableContents,
} from './diff.ts';
import { chainFingerprint, layoutFingerprint } from './fingerprint.ts';
import type { Fragment } from './fragment.ts';
import { writtenRules } from './layout.ts';
import { createUses } from './uses.ts';

const node = exampleNode();
const nodePart = desiredForNode(node);

function portOf(parts: Partial<ServicePort> = {}): Fragment {
  return desiredForPort(exampleServicePort(parts), node);
}

function endpoints(...numbers: readonly number[]): Pick<ServicePort, 'clusterEndpoints'> {
  const clusterEndpoints: readonly Endpoint[] = numbers.map((n) => ({
    ip: `10.244.2.${n}`,
    port: 9376,
    isLocal: false,
  }));
  return { clusterEndpoints };
}

/** Steps in short: what is done to what. */
function steps(operations: readonly Operation[]): readonly string[] {
  return operations.map((operation) => {
    switch (operation.kind) {
      case 'add-chain':
        return `add chain ${operation.chain.name}`;
      case 'flush-chain':
      case 'delete-chain':
        return `${operation.kind} ${operation.chain}`;
      case 'add-rule':
        return `add rule ${operation.rule.chain}`;
      case 'add-elements':
      case 'delete-elements': {
        const keys = operation.elements.map(({ key }) => key.join(' . '));
        const isAboutRules = operation.set.name === writtenRules.name;
        return `${operation.kind} ${operation.set.name} ${isAboutRules ? keys.length : keys.join(', ')}`;
      }
      default:
        return operation.kind;
    }
  });
}

/** Between two states of the one service port that there is. */
function between(
  before: Fragment | undefined,
  after: Fragment | undefined,
  others: readonly Fragment[] = [],
): Difference {
  const uses = createUses();
  const some = (fragment: Fragment | undefined): readonly Fragment[] =>
    fragment === undefined ? [] : [fragment];
  diffTable(undefined, [nodePart, ...others, ...some(before)], uses);
  return diffFragments(some(before), some(after), uses);
}

test('diffFragments() finds nothing between two that are the same', () => {
  const { preparation, operations, changes } = between(portOf(), portOf());
  assert.deepEqual(
    { preparation, operations, changes },
    { preparation: [], operations: [], changes: 0 },
  );
});

test('diffFragments() replaces an endpoint by one element for another (NFT-10)', () => {
  const { preparation, operations } = between(portOf(endpoints(1, 2)), portOf(endpoints(1, 3)));
  assert.deepEqual(preparation, []);
  assert.deepEqual(steps(operations), [
    'delete-elements endpoints 10.96.0.20 . tcp . 80 . 1',
    'add-elements endpoints 10.96.0.20 . tcp . 80 . 1',
  ]);
});

test('diffFragments() fills chains before anything leads to them, and empties those that nothing leads to, to be deleted later (NFT-10)', () => {
  const { preparation, operations, staleChains } = between(
    portOf(endpoints(1, 2)),
    portOf(endpoints(1, 2, 3)),
  );
  assert.deepEqual(steps(preparation), [
    'add chain internal-3',
    'add chain choose-3',
    'flush-chain internal-3',
    'add rule internal-3',
    'add rule internal-3',
    'flush-chain choose-3',
    'add rule choose-3',
    'add rule choose-3',
  ]);
  assert.deepEqual(steps(operations), [
    'delete-elements service-ips 10.96.0.20 . tcp . 80',
    'add-elements service-ips 10.96.0.20 . tcp . 80',
    'add-elements endpoints 10.96.0.20 . tcp . 80 . 2',
    'delete-elements written-rules 2',
    'add-elements written-rules 2',
    'flush-chain internal-2',
    'flush-chain choose-2',
  ]);
  assert.deepEqual(staleChains, ['internal-2', 'choose-2']);
});

test('diffFragments() leaves chains and elements that others use', () => {
  const other = portOf({ portName: 'https', port: 443, ...endpoints(1, 2) });
  const { preparation, operations } = between(portOf(endpoints(1, 2)), undefined, [other]);
  assert.deepEqual(preparation, []);
  assert.deepEqual(steps(operations), [
    'delete-elements service-ips 10.96.0.20 . tcp . 80',
    'delete-elements endpoints 10.96.0.20 . tcp . 80 . 0, 10.96.0.20 . tcp . 80 . 1',
  ]);
});

test('diffFragments() hands an address from one service port to another', () => {
  const uses = createUses();
  const web = portOf({ name: 'web' });
  const shop = portOf({ name: 'shop' });
  diffTable(undefined, [nodePart, web], uses);
  assert.deepEqual(diffFragments([web], [shop], uses).operations, []);
});

test('diffFragments() changes the rules of a chain in place', () => {
  const sticky = { affinitySeconds: 10, localEndpoints: [] };
  const { preparation, operations } = between(
    portOf({ ...sticky, clusterEndpoints: [localEndpoint] }),
    portOf({ ...sticky, ...endpoints(1) }),
  );
  assert.deepEqual(preparation, []);
  assert.deepEqual(steps(operations).slice(0, 3), [
    'add chain internal-PFISGYVC-default/web/tcp/',
    'flush-chain internal-PFISGYVC-default/web/tcp/',
    'add rule internal-PFISGYVC-default/web/tcp/',
  ]);
});

/** The table as it would be read back after the fragments were written. */
function contentsOf(fragments: readonly Fragment[]): TableContents {
  const chains = fragments.flatMap((one) => one.chains);
  const entries = [
    layoutFingerprint,
    ...new Map(chains.map((one) => [one.chain.name, chainFingerprint(one)])).values(),
    ...fragments.flatMap((one) => one.entries),
  ];
  const names = new Set(entries.map(({ set }) => set.name));
  return {
    chains: new Map(chains.map(({ chain, rules }) => [chain.name, rules.length])),
    elements: new Map(
      [...names].map((name) => [
        name,
        entries.filter(({ set }) => set.name === name).map(({ element }) => element),
      ]),
    ),
  };
}

const all = [nodePart, portOf({ nodePort: 30080, affinitySeconds: 10 })];

test('diffTable() finds nothing where everything is as it must be', () => {
  const { preparation, operations } = diffTable(contentsOf(all), all, createUses());
  assert.deepEqual([...preparation, ...operations], []);
});

test('diffTable() makes a table anew that has another layout, in the same transaction', () => {
  const { chains } = contentsOf(all);
  const foreign = { chains, elements: new Map() };
  const { preparation, operations } = diffTable(foreign, all, createUses());
  assert.deepEqual(preparation, []);
  assert.deepEqual(steps(operations).slice(0, 3), ['delete-table', 'add-table', 'add-set']);
});

test('diffTable() writes a chain again that lost its rules, and empties one that is not ours', () => {
  const { chains, elements } = contentsOf(all);
  const damaged = new Map([...chains, ['services', 0], ['other', 1]] as const);
  const { preparation, operations } = diffTable({ chains: damaged, elements }, all, createUses());
  assert.deepEqual(steps(preparation), [
    'add chain services',
    'flush-chain services',
    'add rule services',
    'add rule services',
  ]);
  assert.deepEqual(steps(operations), ['flush-chain other']);
});

test('isAllThere() misses chains, rules and fingerprints', () => {
  const uses = createUses();
  diffTable(undefined, all, uses);
  const { chains, elements } = contentsOf(all);
  const without = new Map([...chains].filter(([name]) => name !== 'services'));
  assert.equal(isAllThere(uses, { chains, elements }), true);
  assert.equal(isAllThere(uses, undefined), false);
  assert.equal(isAllThere(uses, { chains: without, elements }), false);
  assert.equal(
    isAllThere(uses, { chains: new Map([...chains, ['services', 1]]), elements }),
    false,
  );
  assert.equal(isAllThere(uses, { chains, elements: new Map() }), false);
});
