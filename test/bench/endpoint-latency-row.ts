// 200 services over pods that wait: from the moment in which the last pod of a service is ready until its Endpoints
// and its slice say so.
import { endpointSliceDefinition } from '../../src/kinds/endpoint-slice/definition.ts';
import { endpointsDefinition } from '../../src/kinds/endpoints/definition.ts';
import { type Binary, startBinary } from './binary.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { podName, podReadyBody, podsEach, podsPath } from './cluster-objects.ts';
import type { Figure } from './figure.ts';
import { load, percentile } from './load.ts';
import { serviceName } from './objects.ts';
import { cpuMicros } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const services = 200;
const clients = 8;

export async function endpointLatencyRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'up', directory });
  const cluster = await openCluster(binary.target);
  try {
    await prepare(binary);
    const seen = await followReady(cluster);
    await seen.until(
      (counts) => counts.every((count) => count === 0) && counts.length === services,
    );
    const writesBefore = await countBoth(cluster);
    const cpuBefore = cpuMicros(binary.pid);
    const readyAt = await makeReady(cluster);
    await seen.until((counts) => counts.every((count) => count === podsEach));
    const cpu = (cpuMicros(binary.pid) - cpuBefore) / (services * podsEach);
    const late = readyAt.map((at, index) => (seen.completeAt.get(serviceName(index)) ?? at) - at);
    const sorted = Float64Array.from(late).sort();
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
    const writes = (await countBoth(cluster)) - writesBefore;
    const row = 'endpoints';
    return [
      {
        ...{ row, unit: 'ms', value: p99, goal: 100, p50, p99, cpuMicros: cpu },
        what: '200 services, last of 10 pods ready to Endpoints and slice written, p99',
      },
      { row, unit: 'writes', value: writes, what: 'Endpoints and slices written for them' },
    ];
  } finally {
    await cluster.close();
    await binary.stop();
  }
}

const countBoth = async (cluster: Cluster): Promise<number> =>
  (await cluster.countWrites('endpoints')) + (await cluster.countWrites('endpointslices'));

async function prepare({ pid, target }: Binary): Promise<void> {
  const plan = {
    target,
    clients,
    protocol: 'http/1.1',
    first: 0,
    objects: services,
    salt: '',
  } as const;
  await load(pid, { ...plan, work: 'create-pod', requests: services * podsEach });
  await load(pid, { ...plan, work: 'create', requests: services });
}

/** Pods of all services in turn, so that the last of each come close together. Returns when each service's last was. */
async function makeReady(cluster: Cluster): Promise<readonly number[]> {
  const readyAt: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < services * podsEach) {
      const at = next;
      next += 1;
      const service = at % services;
      const index = service * podsEach + Math.floor(at / services);
      const body: unknown = JSON.parse(podReadyBody(index, true));
      await cluster.call('PATCH', `${podsPath}/${podName(index)}/status`, body);
      readyAt[service] = performance.now();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return readyAt;
}

type Seen = {
  /** When the service was first seen with all its pods ready in both objects. */
  readonly completeAt: ReadonlyMap<string, number>;
  /** Resolves when the condition holds for the ready endpoints of each service. */
  readonly until: (holds: (counts: readonly number[]) => boolean) => Promise<void>;
};

async function followReady(cluster: Cluster): Promise<Seen> {
  const inEndpoints = new Map<string, number>();
  const inSlices = new Map<string, number>();
  const completeAt = new Map<string, number>();
  let check = (): void => {};
  const note = (counts: Map<string, number>, name: string, count: number): void => {
    if (name === 'kubernetes') return;
    counts.set(name, count);
    const isComplete = inEndpoints.get(name) === podsEach && inSlices.get(name) === podsEach;
    if (isComplete && !completeAt.has(name)) completeAt.set(name, performance.now());
    check();
  };
  await cluster.follow(endpointsDefinition, ({ metadata, subsets = [] }) =>
    note(inEndpoints, metadata.name ?? '', subsets[0]?.addresses?.length ?? 0),
  );
  await cluster.follow(endpointSliceDefinition, ({ metadata, endpoints }) => {
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions.ready === true);
    note(inSlices, metadata.labels?.['kubernetes.io/service-name'] ?? '', ready.length);
  });
  return {
    completeAt,
    until: (holds) =>
      new Promise((resolve) => {
        check = () => {
          const names = [...inSlices.keys()];
          const counts = names.map((n) => Math.min(inSlices.get(n) ?? 0, inEndpoints.get(n) ?? -1));
          if (holds(counts)) resolve();
        };
        check();
      }),
  };
}
