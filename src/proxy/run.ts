// The node proxy: informers to state to mode, for each family that the machine has.
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import type { ApiCaller } from '../client/api-call.ts';
import { createEventRecorder, type EventRecorder } from '../client/event-recorder.ts';
import { waitForSync } from '../client/shared-informers.ts';
import { type Clock, sleep, systemClock } from '../host/clock.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Revisions } from '../kinds/part/position.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { StatusServer } from '../observe/serve-status.ts';
import type { ProxyConfig } from './config.ts';
import { createFlowCleaner, type FlowCleaner } from './conntrack/apply-conntrack.ts';
import { applyKernelSettings } from './conntrack/apply-kernel-settings.ts';
import { conntrackSettings } from './conntrack/conntrack-settings.ts';
import { createEffectiveRules, type EffectiveRules } from './effective-rules.ts';
import { createProxyHealth, isEligible, type ProxyHealth } from './health/health.ts';
import { createHealthChecks, type HealthChecks } from './health/serve-health-checks.ts';
import { serveHealthz } from './health/serve-healthz.ts';
import { serveMetrics } from './health/serve-metrics.ts';
import { createProxyMetrics, type ProxyMetrics } from './metrics.ts';
import type { RefusedAddress } from './model/own-addresses.ts';
import type { Family } from './model/state.ts';
import type { Mode } from './modes/mode.ts';
import { makeNodeView } from './node-view/node-view.ts';
import { type RunningFamily, runProxyAnswers } from './run-answers.ts';
import { type ChosenMode, chooseMode } from './run-choose-mode.ts';
import { cleanUpModes } from './run-cleanup.ts';
import { type FamilyRun, startFamily } from './run-family.ts';
import { followChanges } from './run-follow.ts';
import { type ProxyInformers, startProxyInformers } from './run-informers.ts';

export type ProxyOptions = {
  readonly caller: ApiCaller;
  readonly config: ProxyConfig;
  readonly modes: readonly Mode[];
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly clock?: Clock;
  /** Called with the chosen mode before anything is written. */
  readonly chosen?: (chosen: ChosenMode) => void;
};

/** How long the first write waits for the Node object and the service ranges. Without them it is corrected by a later one. */
const nodeWaitMs = 2000;

type Parts = Required<Omit<ProxyOptions, 'metrics' | 'chosen'>> & {
  readonly rules: EffectiveRules;
  readonly nodeName: string;
  readonly chosen: ChosenMode;
  readonly informers: ProxyInformers;
  readonly measures: ProxyMetrics;
  readonly health: ProxyHealth;
  readonly healthChecks: HealthChecks;
  readonly events: EventRecorder;
  /** Filled when the modes have started. */
  readonly running: RunningFamily[];
};

/** Resolves after the signal, when everything has stopped; rules stay. Throws NoModeError if no mode works. */
export async function startProxy(options: ProxyOptions, signal: AbortSignal): Promise<void> {
  const { config, caller, clock = systemClock, modes } = options;
  const log = options.log.with({ part: 'proxy' });
  const nodeName = (config.nodeName ?? hostname()).trim().toLowerCase();
  const chosen = await chooseMode(modes, config, log);
  options.chosen?.(chosen);
  applyKernelSettings(conntrackSettings(config.conntrack, availableParallelism()), log);
  const measures = createProxyMetrics(options.metrics, { modes, mode: chosen.mode });
  // Twice the period in which everything should have been written (KPX-33).
  const health = createProxyHealth(chosen.families, 2 * config.syncPeriodMs);
  const watchesAllNodes = !config.allowsForeignAddresses;
  const informers = startProxyInformers({ caller, clock, log, nodeName, watchesAllNodes }, signal);
  const events = createEventRecorder({
    caller,
    component: 'kube-proxy',
    host: nodeName,
    clock,
    log,
  });
  const healthChecks = createHealthChecks({
    isProxyHealthy: () => health.report(clock.now()).isHealthy,
    failed: (key, port, error) => reportFailedCheck({ informers, events, log, key, port, error }),
  });
  const parts: Parts = {
    ...{ caller, config, modes, log, clock, nodeName, chosen, informers },
    ...{ measures, health, healthChecks, events, running: [] },
    rules: createEffectiveRules(chosen.families, { seen: () => seenBy(informers), now: clock.now }),
  };
  const servers = await startServers(parts, options.metrics);
  const stopping = new AbortController();
  try {
    recordStart(parts);
    const answering = runProxyAnswers(
      {
        ...parts,
        mode: chosen.mode,
        running: () => parts.running,
        nodeAddresses: interfaceAddresses,
      },
      stopping.signal,
    );
    try {
      await work(parts, signal);
    } finally {
      stopping.abort();
      await answering;
    }
  } finally {
    await Promise.all([...servers.map((server) => server.close()), healthChecks.close()]);
  }
}

async function startServers(
  parts: Parts,
  metrics: MetricsRegistry,
): Promise<readonly StatusServer[]> {
  const { config, health, informers, measures, clock, chosen, nodeName } = parts;
  const servers: StatusServer[] = [];
  if (config.healthz !== undefined) {
    const server = await serveHealthz({
      ...config.healthz,
      clock,
      report: health.report,
      isEligible: () => isEligible(informers.nodes.store.get(nodeName)),
      responded: (path, code) => measures[path].add({ code: String(code) }),
    });
    servers.push(server);
  }
  if (config.metrics !== undefined) {
    const mode = chosen.mode.name;
    servers.push(
      await serveMetrics({ ...config.metrics, metricsText: metrics.text, mode, config }),
    );
  }
  return servers;
}

const seenBy = ({ services, slices }: ProxyInformers): Revisions => ({
  services: Number(services.version() ?? 0),
  slices: Number(slices.version() ?? 0),
});

/** Events of the Node: the start, a fallback to another mode, and that the mode is deprecated (KPX-50). */
function recordStart({ events, nodeName, chosen }: Parts): void {
  const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: nodeName, uid: nodeName } };
  events.record(node, { type: 'Normal', reason: 'Starting', message: '' });
  if (chosen.insteadOf !== undefined) {
    const { mode, reason } = chosen.insteadOf;
    const message = `Proxy mode ${mode} does not work here, using ${chosen.mode.name}: ${reason}`;
    events.record(node, { type: 'Warning', reason: 'ProxyModeFallback', message });
  }
  const { deprecation } = chosen.mode;
  if (deprecation !== undefined) events.record(node, { type: 'Warning', ...deprecation });
}

async function work(parts: Parts, signal: AbortSignal): Promise<void> {
  const { informers, log, clock } = parts;
  // Nothing is written before everything is known: existing rules stay until then (KPX-09).
  if (!(await waitForSync([informers.services, informers.slices], signal))) return;
  const aboutNode = waitForSync([informers.nodes, informers.ranges], signal);
  await Promise.race([aboutNode, sleep(clock, nodeWaitMs, signal)]);
  const flows = createFlowCleaner(log);
  const modes = await Promise.all(
    parts.chosen.families.map((family) => startMode(parts, family, signal)),
  );
  parts.running.push(...modes);
  // No await from here to followChanges(), so that no change is missed.
  const started = modes.map((mode) => startOne(parts, { ...mode, flows }, signal));
  const unfollow = followChanges(informers, started, clock.now());
  await Promise.all(started.map(({ ended }) => ended));
  unfollow();
  await Promise.all([...modes.map(({ mode }) => mode.stop()), flows.close(), informers.ended]);
}

async function startMode(
  { chosen, clock, config, log }: Parts,
  family: Family,
  signal: AbortSignal,
): Promise<RunningFamily> {
  const options = { family, log: log.with({ family }), clock, settings: config.modeSettings };
  return { family, mode: await chosen.mode.start(options, signal) };
}

function startOne(
  parts: Parts,
  { family, mode, flows }: RunningFamily & { readonly flows: FlowCleaner },
  signal: AbortSignal,
): FamilyRun {
  const { chosen, clock, config, informers, nodeName, log } = parts;
  const options = {
    ...{ family, mode, modeName: chosen.mode.name, clock, log, flows },
    metrics: parts.measures,
    health: parts.health,
    healthChecks: parts.healthChecks,
    allowsExternalIPs: config.allowsExternalIPs,
    allowsForeignAddresses: config.allowsForeignAddresses,
    endpointOwner: informers.endpointOwner,
    refused: (key: string, address: RefusedAddress) => reportRefused(parts, key, address),
    ...(config.minSyncPeriodMs === undefined ? {} : { minSyncPeriodMs: config.minSyncPeriodMs }),
    syncPeriodMs: config.syncPeriodMs,
    nodeView: () =>
      makeNodeView(config, {
        family,
        nodeName,
        node: informers.nodes.store.get(nodeName),
        nodes: nodesOf(informers),
        serviceRanges: [...informers.ranges.store.values()],
        interfaceAddresses: interfaceAddresses(),
        ownAddresses: ownAddresses(parts.modes),
        whenNodePortsUnset: chosen.mode.traits.defaultNodePortAddresses,
      }),
    serviceKeys: informers.services.store.keys,
    objectsOf: informers.objectsOf,
    rules: parts.rules.of(family),
    // Rules of other modes are removed after the first write, so that there are rules at all times (KPX-52).
    afterFirstWrite: () => cleanUpModes(otherModes(chosen.mode, parts.modes), [family], log),
  };
  return startFamily(options, signal);
}

/** Includes the own node, also if the others may not be read. */
function nodesOf({ nodes, allNodes }: ProxyInformers): readonly Node[] {
  return [...nodes.store.values(), ...allNodes.store.values()];
}

function reportRefused(
  { informers, events, log }: Parts,
  key: string,
  { by, ip, why }: RefusedAddress,
): void {
  log.warn('Refused address that the Service does not own', { service: key, by, ip, why });
  const service = informers.services.store.get(key);
  if (service === undefined) return;
  const field = by === 'externalIP' ? 'externalIP' : 'load-balancer address';
  const message = `Not capturing ${field} ${ip}: ${why}`;
  events.record(service, { type: 'Warning', reason: 'ForeignAddress', message });
}

function otherModes({ name, carriers = [] }: Mode, modes: readonly Mode[]): readonly Mode[] {
  return modes.filter((mode) => mode.name !== name && !carriers.includes(mode.name));
}

/** Addresses of Services, which some modes add to an interface of their own, are not the node's. */
function ownAddresses(modes: readonly Mode[]): readonly string[] {
  const ofModes = new Set(modes.flatMap(({ interfaces = [] }) => interfaces));
  const others = Object.entries(networkInterfaces()).filter(([name]) => !ofModes.has(name));
  return addressesOf(Object.fromEntries(others));
}

const interfaceAddresses = (): readonly string[] => addressesOf(networkInterfaces());

function addressesOf(interfaces: ReturnType<typeof networkInterfaces>): readonly string[] {
  return Object.values(interfaces)
    .flat()
    .flatMap((one) => (one === undefined ? [] : [one.address]));
}

type FailedCheck = {
  readonly informers: ProxyInformers;
  readonly events: EventRecorder;
  readonly log: Log;
  readonly key: string;
  readonly port: number;
  readonly error: Error;
};

/** An event of the Service whose health check port cannot be opened (KPX-39). */
function reportFailedCheck({ informers, events, log, key, port, error }: FailedCheck): void {
  const message = `node cannot start health check for service ${key} on port ${port}: ${error.message}`;
  log.error('Failed to start health check server', { service: key, port, error: error.message });
  const service = informers.services.store.get(key);
  if (service === undefined) return;
  events.record(service, { type: 'Warning', reason: 'FailedToStartServiceHealthcheck', message });
}
