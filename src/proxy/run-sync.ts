// One sync of one family: pending changes go through the model into the mode; then health checks, stale flows and metrics.
import type { Clock } from '../host/clock.ts';
import { freeMemory } from '../host/free-memory.ts';
import type { Log } from '../observe/log.ts';
import type { FlowCleaner } from './conntrack/apply-conntrack.ts';
import { createFlowChanges, type FlowChanges } from './conntrack/flow-changes.ts';
import { findStaleFlows } from './conntrack/stale-flows.ts';
import type { FamilyRules } from './effective-rules.ts';
import type { ProxyHealth } from './health/health.ts';
import type { HealthChecks } from './health/serve-health-checks.ts';
import type { ProxyMetrics } from './metrics.ts';
import type { RefusedAddress } from './model/own-addresses.ts';
import type { PendingChanges } from './model/pending-changes.ts';
import type { Family, ProxyState, StateChange } from './model/state.ts';
import {
  createStateTracker,
  type NodeView,
  type ServiceObjects,
  type StateTracker,
} from './model/track-state.ts';
import type { PacketCounts, RunningMode, SyncReport } from './modes/mode.ts';

export type SyncOptions = {
  readonly family: Family;
  readonly mode: RunningMode;
  readonly modeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly healthChecks: HealthChecks;
  readonly flows: FlowCleaner;
  readonly pending: PendingChanges;
  readonly allowsExternalIPs: boolean;
  readonly allowsForeignAddresses: boolean;
  readonly endpointOwner: (ip: string) => string | undefined;
  /** Called once for each address that a Service names and that is not captured for it. */
  readonly refused: (serviceKey: string, address: RefusedAddress) => void;
  readonly nodeView: () => NodeView;
  /** Keys of all Services. */
  readonly serviceKeys: () => Iterable<string>;
  readonly objectsOf: (serviceKey: string) => ServiceObjects;
  /** Notified of what the rules do. */
  readonly rules: FamilyRules;
};

/** After a failure (false) the next run writes everything (KPX-41). */
export type Sync = {
  readonly run: (reason: 'change' | 'period') => Promise<boolean>;
  /** Services that name one of the addresses. */
  readonly naming: StateTracker['naming'];
};

type Work = SyncOptions & {
  readonly tracker: StateTracker;
  readonly flowChanges: FlowChanges;
  readonly labels: { readonly ip_family: Family };
  lastFullAt: number;
  /** Whether the current write is partial. */
  isPartial: boolean;
  /** Addresses that were reported as refused. */
  reported: ReadonlySet<string>;
  /** As last read. */
  packets: PacketCounts;
};

/** Interval of full syncs, which repair what checks do not notice (KPX-40). */
const fullSyncEveryMs = 3_600_000;

export function createSync(options: SyncOptions): Sync {
  const work: Work = {
    ...options,
    tracker: createStateTracker(options.nodeView(), options),
    flowChanges: createFlowChanges(),
    labels: { ip_family: options.family },
    lastFullAt: Number.NEGATIVE_INFINITY,
    isPartial: false,
    reported: new Set(),
    packets: { invalidDropped: 0, loopbackAccepted: 0 },
  };
  options.pending.addServices(options.serviceKeys());
  const run = async (reason: 'change' | 'period'): Promise<boolean> => {
    try {
      await syncOnce(work, reason);
      return true;
    } catch (error) {
      work.rules.failed();
      work.tracker.forget();
      recordFailure(work, error);
      return false;
    }
  };
  return { run, naming: work.tracker.naming };
}

async function syncOnce(work: Work, reason: 'change' | 'period'): Promise<void> {
  const { clock, family, tracker } = work;
  const startedAt = clock.now();
  if (reason === 'period') {
    await checkIntact(work);
    await countPackets(work);
  }
  const { triggers, queuedAt = startedAt } = updateModel(work, reason);
  const { state, change } = tracker.take();
  const isNothing = change.kind === 'ports' && change.keys.size === 0;
  if (!isNothing) await write(work, state, change, { startedAt, queuedAt, triggers });
  work.rules.applied(state);
  work.health.updated(family, startedAt, clock.now());
  await work.healthChecks.update({
    family,
    checks: tracker.healthChecks(),
    addresses: state.node.nodePortAddresses,
  });
  if (!isNothing) await deleteStaleFlows(work, state, change);
  if (change.kind === 'full' && state.ports.size >= manyPorts) freeMemory();
}

/** A full sync of this many ports leaves enough garbage to collect it at once. */
const manyPorts = 1000;

/** Makes the next sync a full one if rules are missing, or after an hour. */
async function checkIntact(work: Work): Promise<void> {
  const { clock, tracker, mode, log, family } = work;
  if (clock.now() - work.lastFullAt >= fullSyncEveryMs) return tracker.forget();
  if (await mode.isIntact()) return;
  log.warn('Rules were changed by another program, writing all rules', { family });
  tracker.forget();
}

/** Packet counters of iptables rules (IPT-13). Those of rewritten rules start at zero. */
async function countPackets(work: Work): Promise<void> {
  const { mode, metrics } = work;
  if (mode.packets === undefined) return;
  const before = work.packets;
  const now = await mode.packets();
  work.packets = now;
  for (const name of ['invalidDropped', 'loopbackAccepted'] as const) {
    metrics.ofMode[name]?.add({}, now[name] < before[name] ? now[name] : now[name] - before[name]);
  }
}

/** Applies pending changes to the model. */
function updateModel(work: Work, reason: 'change' | 'period'): ReturnType<PendingChanges['take']> {
  const { tracker, pending, metrics, labels } = work;
  work.rules.begin();
  const changes = pending.take();
  const { serviceKeys, isNodeChanged } = changes;
  // Changes of the machine's addresses are found by polling.
  const more =
    isNodeChanged || reason === 'period' ? tracker.setNode(work.nodeView()) : ([] as const);
  const others = more === 'all' ? work.serviceKeys() : more;
  for (const key of new Set([...others, ...serviceKeys])) tracker.update(key, work.objectsOf(key));
  reportRefused(work);
  metrics.serviceChangesPending.set(labels, 0);
  metrics.endpointChangesPending.set(labels, 0);
  return changes;
}

/** Once for each address of each Service. */
function reportRefused(work: Work): void {
  const { tracker, metrics, labels } = work;
  const now = new Map<string, RefusedAddress & { readonly serviceKey: string }>();
  for (const [serviceKey, list] of tracker.refused())
    for (const one of list) now.set(`${serviceKey} ${one.by} ${one.ip}`, { ...one, serviceKey });
  for (const [key, { serviceKey, ...address }] of now)
    if (!work.reported.has(key)) work.refused(serviceKey, address);
  for (const by of ['externalIP', 'loadBalancer'] as const) {
    const count = [...now.values()].filter((one) => one.by === by).length;
    metrics.refusedAddresses.set({ ...labels, claimed_by: by }, count);
  }
  work.reported = new Set(now.keys());
}

type Times = {
  readonly startedAt: number;
  readonly queuedAt: number;
  readonly triggers: readonly number[];
};

async function write(
  work: Work,
  state: ProxyState,
  change: StateChange,
  { startedAt, queuedAt, triggers }: Times,
): Promise<void> {
  const { clock, metrics, labels } = work;
  work.isPartial = change.kind === 'ports';
  const report = await work.mode.sync(state, change);
  const now = clock.now();
  if (change.kind === 'full') work.lastFullAt = now;
  const seconds = (now - startedAt) / 1000;
  metrics.syncSeconds.observe(labels, seconds);
  (report.isFull ? metrics.fullSyncSeconds : metrics.partialSyncSeconds).observe(labels, seconds);
  metrics.lastSync.set(labels, now / 1000);
  for (const at of triggers) metrics.programmingSeconds.observe(labels, (now - at) / 1000);
  recordRules(work, report);
  const fields = {
    family: work.family,
    mode: work.modeName,
    servicePorts: state.ports.size,
    ...report,
    tookMs: now - startedAt,
    afterChangeMs: now - queuedAt,
  };
  if (report.isFull) work.log.info('Wrote all rules', fields);
  else work.log.debug('Wrote changed rules', fields);
}

function recordRules({ metrics, labels, tracker }: Work, report: SyncReport): void {
  const { rules, written, cleanupFailed = false } = report;
  if (cleanupFailed) metrics.ofMode.cleanupFailures?.add(labels);
  const { internal, external } = tracker.withoutLocal();
  metrics.withoutLocalEndpoints.set({ ...labels, traffic_policy: 'internal' }, internal);
  metrics.withoutLocalEndpoints.set({ ...labels, traffic_policy: 'external' }, external);
  for (const [table, count] of Object.entries(rules ?? {})) {
    metrics.ofMode.rules?.set({ ...labels, table }, count);
  }
  for (const [table, count] of Object.entries(written ?? {})) {
    metrics.ofMode.written?.set({ ...labels, table }, count);
  }
}

function recordFailure(work: Work, error: unknown): void {
  const { metrics, labels, log, family, modeName, isPartial } = work;
  const { syncFailures, partialSyncFailures = syncFailures } = metrics.ofMode;
  (isPartial ? partialSyncFailures : syncFailures)?.add(labels);
  log.error('Failed to write rules, retrying with all rules', {
    family,
    mode: modeName,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}

async function deleteStaleFlows(work: Work, state: ProxyState, change: StateChange): Promise<void> {
  const { clock, metrics, labels, flowChanges, tracker, flows, family, log } = work;
  const stale = findStaleFlows(flowChanges.take(state, change, tracker.servingUDP), state.node);
  if (stale.isEmpty) return;
  const startedAt = clock.now();
  const deleted = await flows.deleteStale(family, stale);
  metrics.conntrackSeconds.observe(labels, (clock.now() - startedAt) / 1000);
  metrics.conntrackDeleted.add(labels, deleted);
  if (deleted > 0) log.debug('Deleted stale flows', { family, deleted });
}
