// The node agent: runs the pods that are bound to this node, and reports their status and its own.
import { setMaxListeners } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiCaller } from '../client/api-call.ts';
import { createEventRecorder, type EventRecorder } from '../client/event-recorder.ts';
import type { Informer } from '../client/informer.ts';
import { type ResourceClient, resourceClient } from '../client/rest.ts';
import { createSharedInformers, waitForSync } from '../client/shared-informers.ts';
import { aborted, type Clock, systemClock } from '../host/clock.ts';
import { configMapDefinition } from '../kinds/config-map/definition.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { secretDefinition } from '../kinds/secret/definition.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import { isConflict, isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { ReleaseVersion } from '../meta/release-version.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import { diffPods } from './diff.ts';
import { type ClusterDns, parseResolverConfig } from './environment/resolver-config.ts';
import {
  type NodeImages,
  type NodeImagesOptions,
  startNodeImages,
} from './images/run-node-images.ts';
import { removeOldLogs } from './logs/remove-old-logs.ts';
import { createNodeMetrics } from './metrics.ts';
import { hostNetwork, type PodNetwork } from './network/pod-network.ts';
import { defaultShutdownGraceMs, type NodeParts } from './node-parts.ts';
import { type PodWorker, startPodWorker } from './pod/run-pod.ts';
import { createReleases, type WaitForRelease } from './pod/run-release.ts';
import { type Dial, dialHost } from './probes/probe-container.ts';
import type { Runtime } from './runtimes/runtime.ts';
import { type NodeServer, type NodeServerTls, serveNode } from './serve-node.ts';
import { capacity } from './status/node-status.ts';
import { readMachine, readOptionalFile } from './status/read-machine.ts';
import { defaultMaxPods, registrationOf } from './status/registration-options.ts';
import { registerNode, runHeartbeats } from './status/run-registration.ts';
import { createStatusWriter, type StatusWriter } from './status/write-status.ts';
import { removeDirectories } from './volumes/remove-directories.ts';
import { createClaimVolumes } from './volumes/run-claims.ts';
import { removePodFiles } from './volumes/run-volumes.ts';

export type NodeOptions = {
  readonly caller: ApiCaller;
  readonly log: Log;
  readonly name: string;
  /** Addresses of the node, one of each family. */
  readonly nodeIPs: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** The agent's own directory: pods, logs, and state for its next run. */
  readonly dataDirectory: string;
  /** More paths to hide from pods: keys and passwords elsewhere. */
  readonly privatePaths?: readonly string[];
  readonly runtime: Runtime;
  /** Absent: containers run from this machine's files only. */
  readonly images?: NodeImagesOptions;
  readonly cluster: ClusterDns;
  readonly version: ReleaseVersion;
  /** The agent's HTTPS server; absent: none. */
  readonly serve?: { readonly host: string; readonly port: number; readonly tls: NodeServerTls };
  readonly clock?: Clock;
  readonly metrics?: MetricsRegistry;
  /** Absent: pods use the node's network. */
  readonly network?: PodNetwork;
  /** Opens connections to pods from the node. */
  readonly dial?: Dial;
  /** Resolves when no proxy leads to the pod any more. Absent: when the API server says so, or after a delay. */
  readonly released?: WaitForRelease;
  readonly maxPods?: number;
  /** Grace period of containers when the agent shuts down; absent: the default. */
  readonly shutdownGraceMs?: number;
};

export type RunningNode = {
  /** The agent's HTTPS server; absent: none. */
  readonly server?: Pick<NodeServer, 'host' | 'port' | 'useCertificate'>;
  readonly workers: () => readonly PodWorker[];
  /** Resolves when the agent and all its containers have stopped after the signal. */
  readonly ended: Promise<void>;
};

/** After the containers have stopped: limits the time for the last writes of pod statuses. */
const finalWritesMs = 5000;

/** Resolves when the node is registered and its pods are known. */
export async function startNode(options: NodeOptions, signal: AbortSignal): Promise<RunningNode> {
  const { log, dataDirectory, runtime } = options;
  makePrivate(dataDirectory);
  const leftovers = await runtime.endLeftovers();
  if (leftovers > 0) log.info('Killed containers of a previous run', { count: leftovers });
  const registry = options.metrics ?? createMetrics();
  const workers = new Map<string, PodWorker>();
  const server = await startServing(options, workers, registry, signal);
  const served = server === undefined ? {} : { server };
  try {
    const { ended } = await work({ options, registry, workers, ...served }, signal);
    return { ...served, workers: () => [...workers.values()], ended };
  } catch (error) {
    await server?.close();
    await options.network?.stop();
    throw error;
  }
}

type Work = {
  readonly options: NodeOptions;
  readonly registry: MetricsRegistry;
  readonly workers: Map<string, PodWorker>;
  readonly server?: NodeServer;
};

/** Resolves once the agent is running. */
async function work(
  { options, registry, workers, server }: Work,
  signal: AbortSignal,
): Promise<Pick<RunningNode, 'ended'>> {
  const { log, dataDirectory } = options;
  const clock = clockOf(options);
  const { caller, name } = options;
  const events = createEventRecorder({ caller, component: 'kubelet', host: name, clock, log });
  const images = imagesOf(options, events, signal);
  const registration = registrationOf(options, {
    ...{ clock, port: server?.port ?? 0 },
    ...(images === undefined ? {} : { images }),
  });
  await registerNode(registration, signal);
  const informers = createSharedInformers(
    { caller: options.caller, clock: clockOf(options), log },
    signal,
  );
  const pods = informers.of(podDefinition, { fieldSelector: `spec.nodeName=${options.name}` });
  const services = informers.of(serviceDefinition);
  const writing = new AbortController();
  // Every write in flight has a listener.
  setMaxListeners(0, writing.signal);
  const { parts, writer } = createParts(
    options,
    { registry, services, events, writing: writing.signal, ...(images && { images }) },
    signal,
  );
  const removal = { caller, informers, node: name, dataDirectory, clock, log };
  void removeDirectories(removal, signal);
  countRunning(parts, workers);
  // With an incomplete list, pods would seem to be deleted.
  if (await waitForSync([pods, services], signal)) {
    await removeOrphanedPods(dataDirectory, pods);
    parts.network.adopt([...pods.store.values()]);
  }
  parts.network.onProblemChange(() => {
    for (const worker of workers.values()) worker.update(worker.pod());
  });
  const sync = (): void => syncWorkers({ pods, workers, parts, writer }, signal);
  pods.onChange({ add: sync, update: sync, delete: sync });
  const heartbeats = runHeartbeats(registration, signal);
  const served = server === undefined ? {} : { server };
  return {
    ended: shutDown({ workers, heartbeats, parts, writer, informers, writing, ...served }, signal),
  };
}

function imagesOf(
  { images, log, name, clock }: NodeOptions,
  events: EventRecorder,
  signal: AbortSignal,
): NodeImages | undefined {
  if (images === undefined) return undefined;
  // As a kubelet refers to its node in events: the uid is the name.
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } };
  return startNodeImages(
    images,
    {
      ...{ clock: clock ?? systemClock, log },
      report: (reason, message) => events.record(node, { type: 'Warning', reason, message }),
    },
    signal,
  );
}

const clockOf = ({ clock }: NodeOptions): Clock => clock ?? systemClock;

type PartsOptions = {
  readonly registry: MetricsRegistry;
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly images?: NodeImages;
  /** Aborts later than the agent's signal: statuses and deletions are written after the containers have stopped. */
  readonly writing: AbortSignal;
};

function createParts(
  options: NodeOptions,
  { registry, services, events, images, writing }: PartsOptions,
  signal: AbortSignal,
): { readonly parts: NodeParts; readonly writer: StatusWriter } {
  const { caller, log, nodeIPs, dataDirectory, runtime, cluster } = options;
  const clock = clockOf(options);
  const client = resourceClient(caller, podDefinition);
  const writer = createStatusWriter({ client, clock, log }, writing);
  const parts: NodeParts = {
    caller,
    clock,
    log,
    metrics: createNodeMetrics(registry),
    events,
    runtime,
    ...(images === undefined ? {} : { images }),
    network: options.network ?? hostNetwork(nodeIPs),
    dial: options.dial ?? dialHost,
    nodeIPs,
    allocatable: capacity(readMachine(dataDirectory), options.maxPods ?? defaultMaxPods),
    dataDirectory,
    claims: createClaimVolumes({ caller, node: options.name, dataDirectory }),
    privatePaths: [dataDirectory, ...(options.privatePaths ?? [])].flatMap((path) =>
      existsSync(path) ? [realpathSync(path)] : [],
    ),
    shutdownGraceMs: options.shutdownGraceMs ?? defaultShutdownGraceMs,
    cluster,
    hostResolver: () => parseResolverConfig(readOptionalFile('/etc/resolv.conf')),
    hostHosts: () => readOptionalFile('/etc/hosts'),
    services: () => [...services.store.values()],
    readConfigMap: reader(resourceClient(caller, configMapDefinition)),
    readSecret: reader(resourceClient(caller, secretDefinition)),
    report: writer.report,
    reported: writer.reported,
    finishDeletion: (pod) => removePod(client, pod, writing),
    released: whileRunning(options.released ?? createReleases({ caller, clock, log }), signal),
  };
  return { parts, writer };
}

/** While the whole node shuts down, nothing is waited for. */
const whileRunning =
  (released: WaitForRelease, signal: AbortSignal): WaitForRelease =>
  async (pod, cancelled) => {
    if (!signal.aborted) await released(pod, AbortSignal.any([signal, cancelled]));
  };

function reader<T extends KubeObject>(client: ResourceClient<T>) {
  return async (namespace: string, name: string): Promise<T | undefined> => {
    try {
      return await client.get({ namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}

async function removePod(
  client: ResourceClient<Pod>,
  { metadata }: Pod,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  try {
    await client.delete(
      { namespace, name },
      { gracePeriodSeconds: 0, signal, ...(uid === undefined ? {} : { preconditions: { uid } }) },
    );
  } catch (error) {
    // Already deleted, or replaced by another pod.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

type WorkerSync = {
  readonly pods: Informer<Pod>;
  readonly workers: Map<string, PodWorker>;
  readonly parts: NodeParts;
  readonly writer: StatusWriter;
};

function syncWorkers({ pods, workers, parts, writer }: WorkerSync, signal: AbortSignal): void {
  if (signal.aborted) return;
  const working = new Map([...workers].map(([uid, worker]) => [uid, worker.pod()]));
  const changes = diffPods(pods.store.values(), working);
  for (const pod of changes.start) {
    const uid = pod.metadata.uid ?? '';
    const worker = startPodWorker(pod, parts, signal);
    workers.set(uid, worker);
    void worker.ended
      .catch((error: unknown) =>
        parts.log.error('Pod worker failed', { uid, error: String(error) }),
      )
      .finally(() => {
        if (signal.aborted) return;
        workers.delete(uid);
        removeOldLogs(parts.dataDirectory, (one) => workers.has(one));
        writer.forget(uid);
      });
  }
  for (const pod of changes.update) workers.get(pod.metadata.uid ?? '')?.update(pod);
  for (const uid of changes.remove) {
    workers.get(uid)?.remove();
    // Its worker may be waiting for a write that can no longer succeed.
    writer.forget(uid);
  }
}

/** Removes directories of pods that were deleted while no agent was running. */
async function removeOrphanedPods(dataDirectory: string, pods: Informer<Pod>): Promise<void> {
  const directory = join(dataDirectory, 'pods');
  makePrivate(directory);
  const present = new Set([...pods.store.values()].map(({ metadata }) => metadata.uid));
  for (const uid of readdirSync(directory)) {
    if (!present.has(uid)) await removePodFiles(join(directory, uid));
  }
}

/** Secrets and logs of pods must not be readable by other users. */
function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
}

function countRunning({ metrics }: NodeParts, workers: ReadonlyMap<string, PodWorker>): void {
  const all = (): readonly PodWorker[] => [...workers.values()];
  metrics.countRunning(
    () => all().filter((worker) => worker.hasNetwork()).length,
    () => all().reduce((sum, { containers }) => sum + containers.runningCount(), 0),
  );
}

function startServing(
  options: NodeOptions,
  workers: ReadonlyMap<string, PodWorker>,
  registry: MetricsRegistry,
  signal: AbortSignal,
): Promise<NodeServer | undefined> {
  const { serve, caller, name, dataDirectory } = options;
  if (serve === undefined) return Promise.resolve(undefined);
  return serveNode(
    {
      ...serve,
      caller,
      nodeName: name,
      dataDirectory,
      now: clockOf(options).now,
      metricsText: registry.text,
      find: (namespace, pod) =>
        // The last one: a predecessor of the same name may still be terminating.
        [...workers.values()].findLast((worker) => {
          const { metadata } = worker.pod();
          return metadata.namespace === namespace && metadata.name === pod;
        }),
      pods: () => [...workers.values()].map((worker) => worker.pod()),
    },
    signal,
  );
}

type Shutdown = {
  readonly workers: ReadonlyMap<string, PodWorker>;
  readonly heartbeats: Promise<void>;
  readonly parts: NodeParts;
  readonly writer: StatusWriter;
  readonly informers: { readonly ended: () => Promise<void> };
  readonly writing: AbortController;
  readonly server?: NodeServer;
};

async function shutDown(shutdown: Shutdown, signal: AbortSignal): Promise<void> {
  const { workers, heartbeats, parts, writer, informers, writing, server } = shutdown;
  await aborted(signal);
  const { clock, shutdownGraceMs, log } = parts;
  const cancel = clock.after(shutdownGraceMs + finalWritesMs, () => {
    log.warn('Shut down before all pod statuses were written', { pods: workers.size });
    writing.abort();
  });
  await Promise.allSettled([...workers.values()].map(({ ended }) => ended));
  await parts.network.stop();
  const written = Promise.all([
    writer.settled(),
    heartbeats,
    parts.images?.ended,
    informers.ended(),
    parts.events.flushed(),
  ]);
  await Promise.race([written, aborted(writing.signal)]);
  cancel();
  await server?.close();
}
