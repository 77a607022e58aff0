// Keeps virtual servers, addresses and the table as the state wants them. A sync of some ports changes what is theirs; a full one reads
// what is there and changes only what differs, so that a restart changes nothing.
import type { Operation } from '../../../host/nftables/objects.ts';
import type { NodeState, ProxyState, StateChange } from '../../model/state.ts';
import type { ModeOptions, RunningMode, SyncReport } from '../mode.ts';
import { type Draining, startDraining } from './apply-draining.ts';
import {
  bindAddress,
  ensureInterface,
  type Kernel,
  type LocalAddresses,
  listServicesOf,
  openKernel,
  type Place,
  readAddresses,
  unbindAddress,
} from './apply-kernel.ts';
import { applyServerChanges } from './apply-servers.ts';
import { applyKernelSettings, applyTimeouts } from './apply-settings.ts';
import { type Contents, contentsOf, emptyContents, serviceText } from './contents.ts';
import { desiredForPort } from './desired.ts';
import { type Difference, diff } from './diff.ts';
import { tableOf, writtenRules } from './layout.ts';
import { newTable } from './new-table.ts';
import { requireScheduler } from './probe.ts';
import { hasFingerprint, readServers, readTable } from './read-kernel.ts';
import { createRequests, type Wishes } from './requests.ts';
import { type IpvsSettings, readSettings } from './settings.ts';

/** What we know the kernel to hold. */
type Written = {
  /** As it was given, and with the addresses of the machine itself. */
  readonly given: NodeState;
  readonly node: NodeState;
  readonly wishes: Wishes;
  /** Chains that draw; they only become more. */
  readonly choices: Set<number>;
};

type Work = {
  readonly kernel: Kernel;
  readonly settings: IpvsSettings;
  readonly draining: Draining;
};

export async function startIpvs(options: ModeOptions, place: Place = {}): Promise<RunningMode> {
  const { family, log, clock } = options;
  const settings = readSettings(options.settings);
  const kernel = await openKernel(place);
  const alone = createQueue();
  const draining = startDraining({ ipvs: kernel.ipvs, clock, log, alone });
  const work: Work = { kernel, settings, draining };
  let written: Written | undefined;
  try {
    await requireScheduler(kernel.ipvs, family, settings.scheduler);
    applyKernelSettings(settings, { family, place, log });
    await applyTimeouts(kernel.ipvs, settings);
  } catch (error) {
    await kernel.close();
    throw error;
  }

  async function sync(state: ProxyState, change: StateChange): Promise<SyncReport> {
    const before = written;
    // Until the kernel has said yes, we know nothing.
    written = undefined;
    const isPartial =
      before !== undefined && change.kind === 'ports' && before.given === state.node;
    const step = isPartial
      ? changePorts(before, { state, keys: change.keys, scheduler: settings.scheduler })
      : await changeAll(work, state);
    const bytes = await writeDifference(work, step);
    for (const count of step.choices) step.next.choices.add(count);
    written = step.next;
    return { isFull: !isPartial, changes: step.difference.changes, bytes };
  }

  return {
    sync: (state, change) => alone(() => sync(state, change)),
    isIntact: () => alone(async () => written !== undefined && (await isIntact(work, written))),
    stop: async () => {
      draining.stop();
      await alone(kernel.close);
    },
  };
}

/** One after the other: a check for drained servers must not meet a sync that wants them back. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

type Step = {
  readonly next: Written;
  readonly difference: Difference;
  /** Chains that are there afterwards. */
  readonly choices: Iterable<number>;
  /** Makes the table anew, in one transaction with all that is in it. */
  readonly renewal?: readonly Operation[];
};

type PortChange = {
  readonly state: ProxyState;
  readonly keys: ReadonlySet<string>;
  readonly scheduler: string;
};

function changePorts(written: Written, { state, keys, scheduler }: PortChange): Step {
  const { wishes, node, choices } = written;
  for (const key of keys) {
    const port = state.ports.get(key);
    wishes.set(key, port === undefined ? [] : desiredForPort(port, node, scheduler));
  }
  const changes = wishes.takeChanges();
  const before = contentsOf(changes.before);
  const after = contentsOf(changes.after);
  const difference = diff({ ...before, choices }, after);
  return { next: written, difference, choices: after.choices };
}

async function changeAll(work: Work, state: ProxyState): Promise<Step> {
  const { kernel, settings } = work;
  const { family } = state.node;
  await ensureInterface(kernel.route);
  const addresses = await readAddresses(kernel.route, family);
  const node = withLocalAddresses(state.node, addresses);
  const wishes = createRequests();
  for (const port of state.ports.values()) {
    wishes.set(port.key, desiredForPort(port, node, settings.scheduler));
  }
  wishes.takeChanges();
  const wanted = contentsOf(wishes.items());
  const table = await readTable(kernel, family);
  const servers = await readServers(kernel, {
    family,
    excludeCIDRs: settings.excludeCIDRs,
    addresses,
    table,
    isWanted: (key) => wanted.servers.has(key),
  });
  work.draining.adopt(servers, wanted.servers);
  const fresh = newTable(node);
  const isKnown = hasFingerprint(table, fresh.fingerprint) && table.rules === fresh.rules;
  const found: Contents = {
    servers,
    addresses: new Set(addresses.ours),
    elements: isKnown ? table.elements : emptyContents.elements,
    choices: isKnown ? table.choices : emptyContents.choices,
  };
  const elements = new Map(wanted.elements);
  if (isKnown) elements.set(writtenRules.name, table.elements.get(writtenRules.name) ?? new Map());
  const removal: readonly Operation[] = table.isThere ? [{ kind: 'delete-table' }] : [];
  return {
    next: { given: state.node, node, wishes, choices: new Set(found.choices) },
    difference: diff(found, { ...wanted, elements }),
    choices: wanted.choices,
    ...(isKnown ? {} : { renewal: [...removal, ...fresh.operations] }),
  };
}

/** Node ports answer on every address of the machine (KPX-30), and what it has elsewhere is not bound again (IVS-01). */
function withLocalAddresses(node: NodeState, { others }: LocalAddresses): NodeState {
  return { ...node, nodeIPs: [...new Set([...node.nodeIPs, ...others])] };
}

async function writeDifference(
  { kernel, draining }: Work,
  { next, difference, renewal = [] }: Step,
): Promise<number> {
  const table = tableOf(next.node.family);
  const write = async (operations: readonly Operation[]): Promise<number> =>
    operations.length === 0 ? 0 : await kernel.table.apply({ table, operations });
  const servers = { ipvs: kernel.ipvs, draining };
  const { newChains, newElements, oldElements } = difference;
  let bytes =
    renewal.length > 0
      ? await write([...renewal, ...newChains, ...newElements])
      : (await write(newChains)) + (await write(newElements));
  await applyServerChanges(servers, difference.newServers);
  for (const ip of difference.newAddresses) await bindAddress(kernel.route, ip);
  for (const ip of difference.oldAddresses) await unbindAddress(kernel.route, ip);
  await applyServerChanges(servers, difference.oldServers);
  bytes += await write(oldElements);
  return bytes;
}

/** Elements and real servers are not looked at: who flushes, flushes more than those. */
async function isIntact({ kernel }: Work, { given, node, wishes }: Written): Promise<boolean> {
  const { family } = node;
  const fresh = newTable(node);
  const table = await readTable(kernel, family, [writtenRules]);
  if (!hasFingerprint(table, fresh.fingerprint) || table.rules !== fresh.rules) return false;
  const addresses = await readAddresses(kernel.route, family);
  const { nodeIPs } = withLocalAddresses(given, addresses);
  if (nodeIPs.length !== node.nodeIPs.length) return false;
  if (nodeIPs.some((ip) => !node.nodeIPs.includes(ip))) return false;
  const bound = new Set(addresses.ours);
  const there = new Set((await listServicesOf(kernel.ipvs, family)).map(serviceText));
  for (const { address, server } of wishes.items()) {
    if (address !== undefined && !bound.has(address)) return false;
    if (server !== undefined && !there.has(serviceText(server.service))) return false;
  }
  return true;
}
