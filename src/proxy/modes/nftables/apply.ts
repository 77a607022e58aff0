// Writes the table. A partial sync writes the difference between the previous and the new ports; a full one reads the table and
// writes what differs, so that a restart changes nothing.
import type { Operation } from '../../../host/nftables/objects.ts';
import { openTableAccess } from '../../../host/nftables/open-table-access.ts';
import type { TableAccess } from '../../../host/nftables/table-access.ts';
import type { Family, NodeState, ProxyState, ServicePort, StateChange } from '../../model/state.ts';
import type { ModeOptions, RunningMode, SyncReport } from '../mode.ts';
import { desiredForNode, desiredForPort } from './desired.ts';
import {
  type Difference,
  diffFragments,
  diffTable,
  isAllThere,
  type TableContents,
} from './diff.ts';
import type { Fragment } from './fragment.ts';
import { tableOf, writtenRules } from './layout.ts';
import { readContents } from './read-contents.ts';
import { createUses, type Uses } from './uses.ts';

/** Kernels before 6.2 count a chain as in use for some time after its last reference was removed. */
const keepStaleMs = 1000;

/** What is known to be in the kernel. */
type Written = {
  readonly node: NodeState;
  readonly ports: Map<string, ServicePort>;
  readonly uses: Uses;
  /** Empty chains without references, and since when. */
  readonly stale: Map<string, number>;
};

export async function startNftables(
  options: Pick<ModeOptions, 'family' | 'clock' | 'log'>,
  open: () => Promise<TableAccess> = openTableAccess,
): Promise<RunningMode> {
  const { family, clock, log } = options;
  const table = tableOf(family);
  const access = await open();
  let written: Written | undefined;

  async function sync(state: ProxyState, change: StateChange): Promise<SyncReport> {
    const before = written;
    // Unknown until the write has succeeded.
    written = undefined;
    const isPartial = before !== undefined && change.kind === 'ports' && before.node === state.node;
    const step = isPartial
      ? diffPorts(before, state, change.keys)
      : diffAll(await readContents(access, family), state, before);
    const { next, difference, bytes } = await writeStep(step, state);
    written = next;
    remember(next, difference);
    const report = { isFull: !isPartial, changes: difference.changes, bytes };
    return (await deleteStale(next)) ? report : { ...report, cleanupFailed: true };
  }

  async function writeStep(step: Step, state: ProxyState): Promise<Step & { bytes: number }> {
    try {
      return { ...step, bytes: await writeDifference(step.difference) };
    } catch (error) {
      if (!access.wantsNewTable(error)) throw error;
      const anew = diffAll(otherTable, state, undefined);
      return { ...anew, bytes: await writeDifference(anew.difference) };
    }
  }

  async function writeDifference({ preparation, operations }: Difference): Promise<number> {
    return (await write(preparation)) + (await write(operations));
  }

  async function write(operations: readonly Operation[]): Promise<number> {
    return operations.length === 0 ? 0 : await access.apply({ table, operations });
  }

  function remember({ stale }: Written, { staleChains }: Difference): void {
    for (const name of staleChains) stale.set(name, clock.now());
  }

  /** In a transaction of its own, because the kernel may still refuse it. False: it did. */
  async function deleteStale({ stale, uses }: Written): Promise<boolean> {
    for (const name of stale.keys()) if (uses.chains.has(name)) stale.delete(name);
    const now = clock.now();
    const due = [...stale].filter(([, since]) => now - since >= keepStaleMs).map(([name]) => name);
    try {
      await write(due.map((chain) => ({ kind: 'delete-chain', chain })));
      for (const name of due) stale.delete(name);
      return true;
    } catch (error) {
      for (const name of due) stale.set(name, now);
      log.warn('Failed to delete stale chains, retrying', { family, error: String(error) });
      return false;
    }
  }

  return {
    sync,
    isIntact: async () =>
      written !== undefined &&
      isAllThere(written.uses, await readContents(access, family, [writtenRules])),
    stop: access.close,
  };
}

/** A table of another layout is deleted and created again. */
const otherTable: TableContents = { chains: new Map(), elements: new Map() };

type Step = { readonly next: Written; readonly difference: Difference };

function diffPorts(before: Written, state: ProxyState, keys: ReadonlySet<string>): Step {
  const { node, ports, uses } = before;
  const changed = [...keys].filter((key) => ports.get(key) !== state.ports.get(key));
  const fragments = (from: ReadonlyMap<string, ServicePort>) =>
    changed
      .map((key) => from.get(key))
      .filter((port) => port !== undefined)
      .map((port) => desiredForPort(port, node));
  const difference = diffFragments(fragments(ports), fragments(state.ports), uses);
  for (const key of changed) {
    const port = state.ports.get(key);
    if (port === undefined) ports.delete(key);
    else ports.set(key, port);
  }
  return { next: before, difference };
}

function diffAll(
  contents: TableContents | undefined,
  state: ProxyState,
  before: Written | undefined,
): Step {
  const { node, ports } = state;
  const uses = createUses();
  const difference = diffTable(contents, allFragments(state), uses);
  const stale = new Map(before?.stale);
  return { next: { node, ports: new Map(ports), uses, stale }, difference };
}

function* allFragments({ node, ports }: ProxyState): Generator<Fragment> {
  yield desiredForNode(node);
  for (const port of ports.values()) yield desiredForPort(port, node);
}

/** Removes the table, which is all that this mode ever makes. */
export async function cleanUpNftables(
  family: Family,
  open: () => Promise<TableAccess> = openTableAccess,
): Promise<void> {
  const access = await open();
  try {
    const table = tableOf(family);
    if ((await access.readNames(table)) === undefined) return;
    await access.apply({ table, operations: [{ kind: 'delete-table' }] });
  } finally {
    await access.close();
  }
}
