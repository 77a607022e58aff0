// How long the kernel's rules take over netlink and through the nft program: one element in a large table, and a
// whole load. Both ways write the same objects, in turn, each into a network namespace of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createNamespace, type HeldNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import type {
  Element,
  NftSet,
  Operation,
  Table,
  Transaction,
} from '../../src/host/nftables/objects.ts';
import { openNftables } from '../../src/host/nftables/open-nftables.ts';
import { renderTransaction } from '../../src/host/nftables/render-text.ts';
import type { Figure } from './figure.ts';

const chains = 30;
const rulesPerChain = 1000;
const elementsInTable = 10_000;
const loadElements = 100_000;
const changes = 200;

const table: Table = { family: 'ip', name: 'bench' };
const endpoints: NftSet = {
  name: 'endpoints',
  key: ['address', 'protocol', 'port'],
  data: ['address', 'port'],
};

type Way = {
  readonly name: string;
  readonly apply: (transaction: Transaction) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function rulesRow(): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write('rules: needs root for a network namespace, left out\n');
    return [];
  }
  return [...(await measureChanges()), ...(await measureLoads())];
}

async function openWays(): Promise<readonly Way[]> {
  const overNetlink = createNamespace();
  const byProgram = createNamespace();
  const nftables = await openNftables({ namespacePath: overNetlink.path });
  return [
    {
      name: 'netlink',
      apply: async (transaction) => void (await nftables.apply(transaction)),
      close: async () => {
        await nftables.close();
        overNetlink.release();
      },
    },
    {
      name: 'nft',
      apply: (transaction) => runNft(byProgram, renderTransaction(transaction)),
      close: async () => byProgram.release(),
    },
  ];
}

async function runNft(namespace: HeldNamespace, text: string): Promise<void> {
  const child = insideNamespace(namespace.path, () =>
    spawn('nft', ['-f', '-'], { stdio: ['pipe', 'ignore', 'inherit'] }),
  );
  child.stdin?.end(text);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`nft ended with ${code}`);
}

async function measureChanges(): Promise<Figure[]> {
  const ways = await openWays();
  for (const way of ways) await way.apply(largeTable());
  const taken = ways.map((): number[] => []);
  for (let change = 0; change < changes; change++) {
    for (const [at, way] of ways.entries()) {
      const kind = change % 2 === 0 ? 'delete-elements' : 'add-elements';
      const elements = [elementAt(7)];
      taken[at]?.push(
        await timed(() => way.apply({ table, operations: [{ kind, set: endpoints, elements }] })),
      );
    }
  }
  for (const way of ways) await way.close();
  return ways.map(({ name }, at): Figure => {
    const [p50, p99] = percentiles(taken[at] ?? []);
    const what = `${name}: one element among ${elementsInTable}, ${chains * rulesPerChain} rules`;
    return { row: 'rules', what, unit: 'ms', value: p50, p50, p99 };
  });
}

async function measureLoads(): Promise<Figure[]> {
  const ways = await openWays();
  const figures: Figure[] = [];
  for (const way of ways) {
    const load: Transaction = {
      table,
      operations: [
        { kind: 'add-table' },
        { kind: 'add-set', set: endpoints },
        { kind: 'add-elements', set: endpoints, elements: elementsUpTo(loadElements) },
      ],
    };
    for (const [what, transaction] of [
      [`${loadElements} elements at once`, load],
      ['the table away again', { table, operations: [{ kind: 'delete-table' }] }],
      [`${elementsInTable} elements and ${chains * rulesPerChain} rules at once`, largeTable()],
    ] as const) {
      const value = await timed(() => way.apply(transaction));
      figures.push({ row: 'rules', what: `${way.name}: ${what}`, unit: 'ms', value });
    }
    await way.close();
  }
  return figures;
}

function largeTable(): Transaction {
  const names = Array.from({ length: chains }, (_, at) => `chain-${at}`);
  return {
    table,
    operations: [
      { kind: 'add-table' },
      { kind: 'add-set', set: endpoints },
      ...names.map((name): Operation => ({ kind: 'add-chain', chain: { name } })),
      ...names.flatMap((chain) => rulesOf(chain)),
      { kind: 'add-elements', set: endpoints, elements: elementsUpTo(elementsInTable) },
    ],
  };
}

function rulesOf(chain: string): Operation[] {
  return Array.from(
    { length: rulesPerChain },
    (_, at): Operation => ({
      kind: 'add-rule',
      rule: {
        chain,
        statements: [
          { kind: 'match-range', field: 'destination', cidr: addressAt(at), isInverted: false },
          { kind: 'set-mark', bit: 0x4000 },
        ],
      },
    }),
  );
}

function elementsUpTo(count: number): Element[] {
  return Array.from({ length: count }, (_, at) => elementAt(at));
}

function elementAt(at: number): Element {
  return { key: [addressAt(at), 'tcp', (at % 60_000) + 1], data: [addressAt(at + 1), 8080] };
}

function addressAt(at: number): string {
  return `10.${at >> 16}.${(at >> 8) & 0xff}.${at & 0xff}`;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

function percentiles(values: readonly number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  return [at(0.5), at(0.99)];
}
