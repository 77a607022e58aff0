// 1,000 pods behind one service are replaced in waves, as a deployment does it: how many slices are written, against the
// fewest that the packing rules allow when each wave is one look.
import { resourceClient } from '../../src/client/rest.ts';
import { diffSlices } from '../../src/controllers/endpoint-slice/diff.ts';
import { defaultSettings } from '../../src/controllers/settings.ts';
import { endpointSliceDefinition } from '../../src/kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../../src/kinds/endpoint-slice/types.ts';
import { nodeDefinition } from '../../src/kinds/node/definition.ts';
import { podDefinition } from '../../src/kinds/pod/definition.ts';
import { serviceDefinition } from '../../src/kinds/service/definition.ts';
import { startBinary } from './binary.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { podsPath } from './cluster-objects.ts';
import type { Figure } from './figure.ts';
import { namespace, servicesPath } from './objects.ts';
import type { RowOptions } from './row.ts';

const pods = 1_000;
/** The default maxSurge of a Deployment: a quarter. */
const wave = 250;
const clients = 8;

export async function rolloverRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'up', directory });
  const cluster = await openCluster(binary.target);
  try {
    await cluster.call('POST', servicesPath, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const slices = await followSlices(cluster);
    await change(numbers(0, pods), (index) => startPod(cluster, index));
    await slices.until((listed) => listed.size === pods);
    const before = await cluster.countWrites('endpointslices');
    let least = 0;
    for (let done = 0; done < pods; done += wave) {
      const [old, fresh] = [numbers(done, wave), numbers(pods + done, wave)];
      const grown = await slicesNow(cluster);
      await change(fresh, (index) => startPod(cluster, index));
      await slices.until((listed) => fresh.every((index) => listed.has(podName(index))));
      least += await minChanges(cluster, grown);
      const shrunk = await slicesNow(cluster);
      await change(old, (index) => endPod(cluster, index));
      await slices.until((listed) => !old.some((index) => listed.has(podName(index))));
      least += await minChanges(cluster, shrunk);
    }
    const made = (await cluster.countWrites('endpointslices')) - before;
    const row = 'rollover';
    return [
      {
        ...{ row, unit: 'writes', value: made, ceiling: { value: least } },
        what: '1,000 pods replaced in 8 waves behind one service: slices written, against the fewest',
      },
    ];
  } finally {
    await cluster.close();
    await binary.stop();
  }
}

const podName = (index: number): string => `web-${index}`;
const numbers = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at);

async function change(
  indexes: readonly number[],
  act: (index: number) => Promise<unknown>,
): Promise<void> {
  const rest = indexes.values();
  const client = async (): Promise<void> => {
    for (const index of rest) await act(index);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function startPod(cluster: Cluster, index: number): Promise<void> {
  await cluster.call('POST', podsPath, {
    metadata: { name: podName(index), labels: { app: 'web' } },
    spec: { nodeName: `node-${index % 50}`, containers: [{ name: 'app', image: 'app:1' }] },
  });
  const ip = `10.1.${index >> 8}.${index & 255}`;
  await cluster.call('PATCH', `${podsPath}/${podName(index)}/status`, {
    status: { podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

const endPod = (cluster: Cluster, index: number): Promise<unknown> =>
  cluster.call('DELETE', `${podsPath}/${podName(index)}?gracePeriodSeconds=0`);

/** The slices of the service as they are now. */
async function slicesNow({ caller }: Cluster): Promise<readonly EndpointSlice[]> {
  const labelSelector = 'kubernetes.io/service-name=web';
  const client = resourceClient(caller, endpointSliceDefinition);
  return (await client.list({ namespace, labelSelector })).items;
}

/** What one look would write that found these slices and the pods there are now. */
async function minChanges(
  { caller }: Cluster,
  existing: readonly EndpointSlice[],
): Promise<number> {
  const service = await resourceClient(caller, serviceDefinition).get({ namespace, name: 'web' });
  const { items: nodes } = await resourceClient(caller, nodeDefinition).list();
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const changes = diffSlices({
    service,
    pods: (await resourceClient(caller, podDefinition).list({ namespace })).items,
    node: (name) => byName.get(name),
    zones: undefined,
    existing,
    spreadBefore: new Map(),
    maxPerSlice: defaultSettings.maxEndpointsPerSlice,
  });
  return changes.create.length + changes.update.length + changes.delete.length;
}

type ListedPods = {
  readonly until: (holds: (listed: ReadonlySet<string>) => boolean) => Promise<void>;
};

async function followSlices(cluster: Cluster): Promise<ListedPods> {
  const slices = new Map<string, readonly string[]>();
  let check = (): void => {};
  await cluster.follow(endpointSliceDefinition, ({ metadata, endpoints }, isGone) => {
    if (metadata.labels?.['kubernetes.io/service-name'] !== 'web') return;
    const names = (endpoints ?? []).flatMap(({ targetRef }) => targetRef?.name ?? []);
    if (isGone) slices.delete(metadata.name ?? '');
    else slices.set(metadata.name ?? '', names);
    check();
  });
  return {
    until: (holds) =>
      new Promise((resolve) => {
        check = () => {
          if (holds(new Set([...slices.values()].flat()))) resolve();
        };
        check();
      }),
  };
}
