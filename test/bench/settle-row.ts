// 10,000 services of 10 pods each: the controllers start and find none of the endpoints written. Then single pods
// change, and the slice follows.
import { endpointSliceDefinition } from '../../src/kinds/endpoint-slice/definition.ts';
import { endpointsDefinition } from '../../src/kinds/endpoints/definition.ts';
import { startBinary } from './binary.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { podName, podReadyBody, podsEach, podsPath } from './cluster-objects.ts';
import { startControllersBinary } from './controllers-binary.ts';
import type { Figure } from './figure.ts';
import { fillStore } from './fill-store.ts';
import { percentile } from './load.ts';
import { cpuMicros, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const services = 10_000;
const flips = 200;

export async function settleRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  await fillStore(directory, services);
  const binary = await startBinary({ command: 'apiserver', directory });
  const cluster = await openCluster(binary.target);
  try {
    const { settled } = await followEndpoints(cluster);
    const begin = performance.now();
    const controllers = startControllersBinary(directory);
    try {
      await settled;
      const seconds = (performance.now() - begin) / 1000;
      const cpu = cpuMicros(controllers.pid) / services;
      const slices = await cluster.countWrites('endpointslices');
      const endpoints = await cluster.countWrites('endpoints');
      const memory = residentMiB(controllers.pid);
      const flip = await measureFlips(cluster, controllers.pid);
      const { now: later } = residentMiB(controllers.pid);
      const { now: server } = residentMiB(binary.pid);
      const row = 'settle';
      const what = '10,000 services of 10 pods, controllers start to all written';
      return [
        { row, unit: 's', value: seconds, what, cpuMicros: cpu },
        { row, unit: 'MiB', value: later, what: 'memory of the controllers, settled' },
        { row, unit: 'MiB', value: memory.most, what: 'the most on the way there' },
        { row, unit: 'MiB', value: server, what: 'memory of the API server that they watch' },
        {
          ...{ row, unit: 'writes', value: endpoints + slices, ceiling: { value: 2 * services } },
          what: 'Endpoints and slices written, against the fewest',
        },
        {
          ...{ row, unit: 'ms', value: flip.p99, goal: 100, ...flip },
          what: 'then one pod changes: answer to that to the event of its slice, p99',
        },
      ];
    } finally {
      await controllers.stop();
    }
  } finally {
    await cluster.close();
    await binary.stop();
  }
}

/** `settled` resolves when every service has all its endpoints in both forms. */
async function followEndpoints(cluster: Cluster): Promise<{ readonly settled: Promise<void> }> {
  let missing = 2 * services;
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const complete = new Set<string>();
  const note = (key: string, count: number): void => {
    if (count !== podsEach || complete.has(key)) return;
    complete.add(key);
    missing -= 1;
    if (missing === 0) settle();
  };
  await cluster.follow(endpointsDefinition, ({ metadata, subsets = [] }) =>
    note(`endpoints ${metadata.name}`, subsets[0]?.addresses?.length ?? 0),
  );
  await cluster.follow(endpointSliceDefinition, ({ metadata, endpoints }) =>
    note(`slice ${metadata.labels?.['kubernetes.io/service-name']}`, endpoints?.length ?? 0),
  );
  return { settled };
}

type Timed = { readonly p50: number; readonly p99: number; readonly cpuMicros: number };

/** From the answer to the change of the pod, which its event leaves the server with, to the event of the slice. */
async function measureFlips(cluster: Cluster, pid: number): Promise<Timed> {
  const latencies: number[] = [];
  const wait = { pod: '', seen: (): void => {} };
  await cluster.follow(endpointSliceDefinition, ({ endpoints }) => {
    const found = endpoints?.find(({ targetRef }) => targetRef?.name === wait.pod);
    if (found?.conditions.ready === false) wait.seen();
  });
  const before = cpuMicros(pid);
  for (let flip = 0; flip < flips; flip += 1) {
    const index = (flip * 4_999) % (services * podsEach);
    const seenAt = new Promise<number>((resolve) => {
      Object.assign(wait, { pod: podName(index), seen: () => resolve(performance.now()) });
    });
    const body: unknown = JSON.parse(podReadyBody(index, false));
    await cluster.call('PATCH', `${podsPath}/${podName(index)}/status`, body);
    const changedAt = performance.now();
    latencies.push((await seenAt) - changedAt);
  }
  const sorted = Float64Array.from(latencies).sort();
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMicros: (cpuMicros(pid) - before) / flips,
  };
}
