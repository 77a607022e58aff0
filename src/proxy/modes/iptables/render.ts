// Changes as text for iptables-restore: blocks that the kernel takes one after the other, each as a whole. What something
// leads to is written before what leads there, and removed after it, so that no packet ever finds half a service.
import type { ChainName, Changes, ForeignChange, TextChain } from './diff.ts';
import type { Table } from './rules.ts';

export type RenderOptions = {
  /** A block is not made larger than this unless a chain alone is. */
  readonly blockBytes: number;
};

/** `nft`: time grows with the square of new chains in a block, 60 to 1000 KB being about the same (decision 0012). */
export const blockBytesOf = {
  nft: 250_000,
  /** Every block replaces the whole table, whatever its size. */
  legacy: Number.POSITIVE_INFINITY,
} as const;

/** Blocks are made while they are read, and anew each time: those of a large node are 16 MB of text. */
export function render(changes: Changes, { blockBytes }: RenderOptions): Iterable<string> {
  const order: readonly Table[] = changes.refusesMore
    ? ['mangle', 'filter', 'nat']
    : ['mangle', 'nat', 'filter'];
  return {
    *[Symbol.iterator]() {
      for (const table of order) {
        for (const steps of inBlocks(stepsOf(changes, table), blockBytes)) {
          yield renderBlock(table, steps);
        }
      }
    },
  };
}

type Step = {
  /** `:CHAIN` lines make a chain or empty it; they stand before everything else in a block. */
  readonly chains: readonly string[];
  /** What every line begins with. */
  readonly prefix: string;
  readonly lines: readonly string[];
};

function stepsOf(changes: Changes, table: Table): readonly Step[] {
  const isHere = (change: { readonly table: Table }): boolean => change.table === table;
  const foreign = changes.foreign.filter(isHere);
  return [
    // Among equals as they come: their order is the one in which the kernel will meet them.
    ...changes.write.filter(isHere).sort(byRank).map(writeStep),
    ...(foreign.length === 0 ? [] : [foreignStep(foreign)]),
    ...changes.remove.filter(isHere).sort(byRank).reverse().map(removeStep),
  ];
}

function writeStep({ name, lines }: TextChain): Step {
  return { chains: [name], prefix: `-A ${name} `, lines };
}

function removeStep({ name }: ChainName): Step {
  return { chains: [name], prefix: '', lines: [`-X ${name}`] };
}

function foreignStep(changes: readonly ForeignChange[]): Step {
  const flags = { insert: '-I', append: '-A', delete: '-D' } as const;
  return {
    chains: changes.flatMap((change) => (change.kind === 'create' ? [change.chain] : [])),
    prefix: '',
    lines: changes.flatMap((change) =>
      change.kind === 'create' ? [] : [`${flags[change.kind]} ${change.chain} ${change.line}`],
    ),
  };
}

/** Chains without jumps come first. */
function byRank(a: ChainName, b: ChainName): number {
  return rankOf(a.name) - rankOf(b.name);
}

const ranks: readonly RegExp[] = [
  /^KUBE-(?:MARK-MASQ|PROXY-CANARY)$/,
  /^KUBE-SEP-/,
  /^KUBE-SV[CL]-/,
  /^KUBE-(?:EXT|XLB)-/,
  /^KUBE-FW-/,
  // Parts of the lists that all services share, then the lists.
  /^KUBE-(?:SERVICES|NODEPORTS|EXTERNAL-SERVICES|CLOSED-PORTS|PROXY-FIREWALL)-/,
  /^KUBE-(?:NODEPORTS|CLOSED-PORTS)$/,
];

function rankOf(name: string): number {
  const rank = ranks.findIndex((pattern) => pattern.test(name));
  return rank === -1 ? ranks.length : rank;
}

/** Longer than any `:CHAIN - [0:0]` line. */
const declarationBytes = 40;

function inBlocks(steps: readonly Step[], blockBytes: number): readonly (readonly Step[])[] {
  const blocks: Step[][] = [];
  let size = 0;
  for (const step of steps) {
    const lineBytes = (sum: number, line: string): number =>
      sum + step.prefix.length + line.length + 1;
    const bytes = step.lines.reduce(lineBytes, declarationBytes);
    if (blocks.length === 0 || size + bytes > blockBytes) {
      blocks.push([]);
      size = 0;
    }
    blocks.at(-1)?.push(step);
    size += bytes;
  }
  return blocks;
}

function renderBlock(table: Table, steps: readonly Step[]): string {
  let text = `*${table}\n`;
  // By name, which iptables-nft needs to be quick.
  for (const name of steps.flatMap(({ chains }) => chains).sort()) text += `:${name} - [0:0]\n`;
  for (const { prefix, lines } of steps) for (const line of lines) text += `${prefix}${line}\n`;
  return `${text}COMMIT\n`;
}
