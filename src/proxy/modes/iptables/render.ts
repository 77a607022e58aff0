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

export function render(changes: Changes, { blockBytes }: RenderOptions): readonly string[] {
  const order: readonly Table[] = changes.refusesMore
    ? ['mangle', 'filter', 'nat']
    : ['mangle', 'nat', 'filter'];
  return order.flatMap((table) =>
    inBlocks(stepsOf(changes, table), blockBytes).map((steps) => renderBlock(table, steps)),
  );
}

/** `:CHAIN` lines make a chain or empty it; they stand before everything else in a block. */
type Step = { readonly chains: readonly string[]; readonly lines: readonly string[] };

function stepsOf(changes: Changes, table: Table): readonly Step[] {
  const isHere = (change: { readonly table: Table }): boolean => change.table === table;
  const foreign = changes.foreign.filter(isHere);
  return [
    ...changes.write.filter(isHere).toSorted(leavesFirst).map(writeStep),
    ...(foreign.length === 0 ? [] : [foreignStep(foreign)]),
    ...changes.remove.filter(isHere).toSorted(leavesFirst).toReversed().map(removeStep),
  ];
}

function writeStep({ name, lines }: TextChain): Step {
  return { chains: [name], lines: lines.map((line) => `-A ${name} ${line}`) };
}

function removeStep({ name }: ChainName): Step {
  return { chains: [name], lines: [`-X ${name}`] };
}

function foreignStep(changes: readonly ForeignChange[]): Step {
  const flags = { insert: '-I', append: '-A', delete: '-D' } as const;
  return {
    chains: changes.flatMap((change) => (change.kind === 'create' ? [change.chain] : [])),
    lines: changes.flatMap((change) =>
      change.kind === 'create' ? [] : [`${flags[change.kind]} ${change.chain} ${change.line}`],
    ),
  };
}

/** Who leads to nobody comes first; among equals by name, which iptables-nft needs to be quick. */
function leavesFirst(a: ChainName, b: ChainName): number {
  return rankOf(a.name) - rankOf(b.name) || (a.name < b.name ? -1 : 1);
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

function inBlocks(steps: readonly Step[], blockBytes: number): readonly (readonly Step[])[] {
  const blocks: Step[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    const bytes = step.lines.reduce((sum, line) => sum + line.length + 1, 40);
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
  const lines = [
    `*${table}`,
    ...steps.flatMap(({ chains }) => chains.map((name) => `:${name} - [0:0]`)),
    ...steps.flatMap(({ lines }) => lines),
    'COMMIT',
  ];
  return `${lines.join('\n')}\n`;
}
