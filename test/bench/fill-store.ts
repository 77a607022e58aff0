// Many services and pods at once: one of each is made through the API, and the store is then filled with copies of what
// it holds for them. Two hundred thousand requests would take longer than what is measured.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import type { Entry, Store, Write } from '../../src/storage/store.ts';
import { startBinary } from './binary.ts';
import { openCluster } from './cluster.ts';
import {
  nodeName,
  podAddress,
  podBody,
  podName,
  podReadyBody,
  podsEach,
  podsPath,
  settledEndpointsBody,
  settledSliceBody,
  sliceName,
} from './cluster-objects.ts';
import {
  endpointsPath,
  namespace,
  serviceBody,
  serviceName,
  servicesPath,
  slicesPath,
} from './objects.ts';

/** Writes in one transaction. */
const batch = 1_000;

export type FillOptions = {
  /** As the controllers would have left it; otherwise there are no endpoints. */
  readonly isSettled?: boolean;
};

/** Leaves a data directory with the given number of services, and ten ready pods for each. */
export async function fillStore(
  directory: string,
  services: number,
  { isSettled = false }: FillOptions = {},
): Promise<void> {
  await makeFirst(directory, isSettled);
  const store = await openEmbeddedStore({
    directory: join(directory, 'data', 'store'),
    now: () => Date.now(),
  });
  try {
    const read = async (key: string): Promise<Entry> => {
      const [entry] = (await store.list(key)).entries;
      if (entry === undefined) throw new Error(`Cannot copy "${key}": it is not in the store`);
      return entry;
    };
    const service = await read(`/registry/services/${namespace}/${serviceName(0)}`);
    const pod = await read(`/registry/pods/${namespace}/${podName(0)}`);
    const { clusterIP } = (JSON.parse(text(service)) as { spec: { clusterIP: string } }).spec;
    const address = await read(`/registry/ipaddresses.networking.k8s.io/${clusterIP}`);
    const slices = isSettled
      ? await Promise.all([
          read(`/registry/endpointslices.discovery.k8s.io/${namespace}/${sliceName(0)}`),
          read(`/registry/endpoints/${namespace}/${serviceName(0)}`),
        ])
      : [];
    const originals = { service, pod, address, clusterIP, slices };
    await write(store, copies(originals, services));
  } finally {
    await store.close();
  }
}

async function makeFirst(directory: string, isSettled: boolean): Promise<void> {
  const binary = await startBinary({ command: 'apiserver', directory });
  const cluster = await openCluster(binary.target);
  try {
    await cluster.call('POST', servicesPath, JSON.parse(serviceBody(0)));
    await cluster.call('POST', podsPath, JSON.parse(podBody(0)));
    await cluster.call(
      'PATCH',
      `${podsPath}/${podName(0)}/status`,
      JSON.parse(podReadyBody(0, true)),
    );
    if (isSettled) {
      await cluster.call('POST', slicesPath, JSON.parse(settledSliceBody(0)));
      await cluster.call('POST', endpointsPath, JSON.parse(settledEndpointsBody(0)));
    }
  } finally {
    await cluster.close();
    await binary.stop();
  }
}

type Originals = {
  readonly service: Entry;
  readonly pod: Entry;
  readonly address: Entry;
  readonly clusterIP: string;
  /** The first service's endpoints, in both forms. */
  readonly slices: readonly Entry[];
};

function* copies(
  { service, pod, address, clusterIP, slices }: Originals,
  services: number,
): Generator<Write> {
  for (let index = 0; index < services; index += 1) {
    const name = serviceName(index);
    const ip = index === 0 ? clusterIP : serviceAddress(index, clusterIP);
    if (index > 0) {
      yield copy(service, [
        [serviceName(0), name],
        [clusterIP, ip],
      ]);
      yield copy(address, [
        [serviceName(0), name],
        [clusterIP, ip],
      ]);
    }
    for (const one of index > 0 ? slices : []) yield copy(one, endpointChanges(index));
    for (let at = 0; at < podsEach; at += 1) {
      const number = index * podsEach + at;
      if (number === 0) continue;
      yield copy(pod, [
        [podName(0), podName(number)],
        [serviceName(0), name],
        [podAddress(0), podAddress(number)],
        [`"${nodeName(0)}"`, `"${nodeName(number)}"`],
      ]);
    }
  }
}

/** Of all ten endpoints at once. Names of pods begin with those of services. */
function endpointChanges(index: number): readonly (readonly [string, string])[] {
  return [
    [serviceName(0), serviceName(index)],
    ...Array.from({ length: podsEach }, (_, at): [string, string] => [
      `"${podAddress(at)}"`,
      `"${podAddress(index * podsEach + at)}"`,
    ]),
  ];
}

/** From the upper end of the range, past the one that the first service has. */
function serviceAddress(index: number, taken: string): string {
  const ip = `10.96.${64 + (index >> 7)}.${index & 127}`;
  return ip === taken ? '10.96.63.1' : ip;
}

function copy({ key, value }: Entry, changes: readonly (readonly [string, string])[]): Write {
  const change = (from: string): string =>
    changes.reduce((done, [before, after]) => done.replaceAll(before, after), from);
  const changed = change(Buffer.from(value).toString('utf8')).replace(
    /"uid":"[^"]+"/,
    `"uid":"${randomUUID()}"`,
  );
  return { put: change(key), value: Buffer.from(changed) };
}

const text = ({ value }: Entry): string => Buffer.from(value).toString('utf8');

async function write(store: Store, writes: Iterable<Write>): Promise<void> {
  let waiting: Write[] = [];
  const flush = async (): Promise<void> => {
    await store.transact({ compare: [], write: waiting });
    waiting = [];
  };
  for (const one of writes) {
    waiting.push(one);
    if (waiting.length === batch) await flush();
  }
  if (waiting.length > 0) await flush();
}
