// Writes virtual servers, addresses and the table. A partial sync changes what belongs to the changed ports; a full one reads the kernel
// and writes what differs, so that a restart changes nothing.
import type { Operation } from '../../../host/nftables/objects.ts';
import type { NodeState, ProxyState, StateChange } from '../../model/state.ts';
import type { ModeOptions, RunningMode, SyncReport } from '../mode.ts';
import { type Draining, startDraining } from './apply-draining.ts';
import {
  bindAddress,
  ensureInterface,
  type IpvsLocation,
  type Kernel,
  type LocalAddresses,
  listServicesOf,
  openKernel,
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
import { createRequests, type Requests } from './requests.ts';
import { type IpvsSettings, readSettings } from './settings.ts';

/** What is known to be in the kernel. */
type Written = {
  /** As requested, and with the addresses of the machine itself. */
  readonly requestedNode: NodeState;
  readonly node: NodeState;
  readonly requests: Requests;
  /** Chains that draw; they only become more. */
  readonly choices: Set<number>;
};

type Work = {
  readonly kernel: Kernel;
  readonly settings: IpvsSettings;
  readonly draining: Draining;
};

export async function startIpvs(
  options: ModeOptions,
  location: IpvsLocation = {},
): Promise<RunningMode> {
  const { family, log, clock } = options;
  const settings = readSettings(options.settings);
  const kernel = await openKernel(location);
  const exclusive = createQueue();
  const draining = startDraining({ ipvs: kernel.ipvs, clock, log, exclusive });
  const work: Work = { kernel, settings, draining };
  let written: Written | undefined;
  try {
    await requireScheduler(kernel.ipvs, family, settings.scheduler);
    applyKernelSettings(settings, { family, location, log });
    await applyTimeouts(kernel.ipvs, settings);
  } catch (error) {
    await kernel.close();
    throw error;
  }

  async function sync(state: ProxyState, change: StateChange): Promise<SyncReport> {
    const before = written;
    // Unknown until the write has succeeded.
    written = undefined;
    const isPartial =
      before !== undefined && change.kind === 'ports' && before.requestedNode === state.node;
    const step = isPartial
      ? changePorts(before, { state, keys: change.keys, scheduler: settings.scheduler })
      : await changeAll(work, state);
    const bytes = await writeDifference(work, step);
    for (const count of step.choices) step.next.choices.add(count);
    written = step.next;
    return { isFull: !isPartial, changes: step.difference.changes, bytes };
  }

  return {
    sync: (state, change) => exclusive(() => sync(state, change)),
    isIntact: () => exclusive(async () => written !== undefined && (await isIntact(work, written))),
    ...(evenSchedulers.has(settings.scheduler) ? {} : { scheduler: settings.scheduler }),
    stop: async () => {
      draining.stop();
      await exclusive(kernel.close);
    },
  };
}

/** Schedulers that give every endpoint as much as the others. */
const evenSchedulers: ReadonlySet<string> = new Set(['rr', 'wrr']);

/** Runs work one after the other: a check of drained servers must not overlap with a sync that adds them again. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    // The error belongs to the caller of this work; the next one starts all the same.
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
  const { requests, node, choices } = written;
  for (const key of keys) {
    const port = state.ports.get(key);
    requests.set(key, port === undefined ? [] : desiredForPort(port, node, scheduler));
  }
  const changes = requests.takeChanges();
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
  const requests = createRequests();
  for (const port of state.ports.values()) {
    requests.set(port.key, desiredForPort(port, node, settings.scheduler));
  }
  requests.takeChanges();
  const wanted = contentsOf(requests.items());
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
    next: { requestedNode: state.node, node, requests, choices: new Set(found.choices) },
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

/** Elements and real servers are not compared: a program that flushes removes more than those. */
async function isIntact(
  { kernel }: Work,
  { requestedNode, node, requests }: Written,
): Promise<boolean> {
  const { family } = node;
  const fresh = newTable(node);
  const table = await readTable(kernel, family, [writtenRules]);
  if (!hasFingerprint(table, fresh.fingerprint) || table.rules !== fresh.rules) return false;
  const addresses = await readAddresses(kernel.route, family);
  const { nodeIPs } = withLocalAddresses(requestedNode, addresses);
  if (nodeIPs.length !== node.nodeIPs.length) return false;
  if (nodeIPs.some((ip) => !node.nodeIPs.includes(ip))) return false;
  const bound = new Set(addresses.ours);
  const there = new Set((await listServicesOf(kernel.ipvs, family)).map(serviceText));
  for (const { address, server } of requests.items()) {
    if (address !== undefined && !bound.has(address)) return false;
    if (server !== undefined && !there.has(serviceText(server.service))) return false;
  }
  return true;
}
