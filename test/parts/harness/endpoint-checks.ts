// What must hold once the controllers are at rest: the API has exactly what the deciding functions say, and nothing else.
import type { ApiCaller } from '../../../src/client/api-call.ts';
import type { ResourceType } from '../../../src/client/resource.ts';
import { resourceClient } from '../../../src/client/rest.ts';
import {
  judgeAddress,
  judgeService,
  serviceKeyOf,
} from '../../../src/controllers/cluster-ip-repair/desired.ts';
import { diffSlices } from '../../../src/controllers/endpoint-slice/diff.ts';
import {
  desiredMirror,
  shouldMirror,
} from '../../../src/controllers/endpoint-slice-mirroring/desired.ts';
import { diffMirror } from '../../../src/controllers/endpoint-slice-mirroring/diff.ts';
import { desiredEndpoints } from '../../../src/controllers/endpoints/desired.ts';
import { diffEndpoints } from '../../../src/controllers/endpoints/diff.ts';
import { parseCidr } from '../../../src/ip/cidr.ts';
import { endpointSliceDefinition } from '../../../src/kinds/endpoint-slice/definition.ts';
import {
  type EndpointSlice,
  mirrorManager,
  sliceManager,
} from '../../../src/kinds/endpoint-slice/types.ts';
import { endpointsDefinition } from '../../../src/kinds/endpoints/definition.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import { ipAddressDefinition } from '../../../src/kinds/ip-address/definition.ts';
import type { IPAddress } from '../../../src/kinds/ip-address/types.ts';
import { nodeDefinition } from '../../../src/kinds/node/definition.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { podDefinition } from '../../../src/kinds/pod/definition.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { hasSelectedPods } from '../../../src/kinds/service/backends.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { serviceCidrDefinition } from '../../../src/kinds/service-cidr/definition.ts';
import { matchesSelector, selectorFromMap } from '../../../src/meta/labels.ts';
import { type KubeObject, objectKey } from '../../../src/meta/object.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../../../src/meta/well-known-labels.ts';

export type RestOptions = {
  readonly caller: ApiCaller;
  readonly maxPerSlice: number;
  readonly now: number;
};

type State = {
  readonly services: ReadonlyMap<string, Service>;
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  readonly slices: readonly EndpointSlice[];
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
};

/** What is not as it should be, in words; empty at rest. */
export async function findDifferences(options: RestOptions): Promise<readonly string[]> {
  const { caller } = options;
  const read = async <T extends KubeObject>(
    type: ResourceType<T>,
  ): Promise<ReadonlyMap<string, T>> =>
    new Map(
      (await resourceClient(caller, type).list()).items.map((o) => [objectKey(o.metadata), o]),
    );
  const state: State = {
    services: await read(serviceDefinition),
    endpoints: await read(endpointsDefinition),
    slices: [...(await read(endpointSliceDefinition)).values()],
    pods: [...(await read(podDefinition)).values()],
    nodes: await read(nodeDefinition),
  };
  return [
    ...[...state.services.values()].flatMap((service) => ofService(state, service, options)),
    ...[...state.endpoints.values()].flatMap((endpoints) => ofMirror(state, endpoints)),
    ...ofStrays(state),
    ...(await ofAddresses(state, options)),
  ];
}

const slicesOf = ({ slices }: State, key: string, manager: string): readonly EndpointSlice[] =>
  slices.filter(({ metadata }) => {
    const { namespace = '', labels = {} } = metadata;
    return (
      labels[sliceManagedByLabel] === manager && `${namespace}/${labels[serviceNameLabel]}` === key
    );
  });

function ofService(
  state: State,
  service: Service,
  { maxPerSlice }: RestOptions,
): readonly string[] {
  if (!hasSelectedPods(service)) return [];
  const key = objectKey(service.metadata);
  const selector = selectorFromMap(service.spec.selector);
  const pods = state.pods.filter(
    ({ metadata }) =>
      metadata.namespace === service.metadata.namespace &&
      matchesSelector(selector, metadata.labels),
  );
  const { action } = diffEndpoints({
    service,
    desired: desiredEndpoints(service, pods),
    current: state.endpoints.get(key),
  });
  const changes = diffSlices({
    service,
    pods,
    node: (name) => state.nodes.get(name),
    zones: undefined,
    existing: slicesOf(state, key, sliceManager),
    spreadBefore: new Map(),
    maxPerSlice,
  });
  return [
    ...(action === 'none' ? [] : [`Endpoints ${key}: ${action}`]),
    ...describe(`slices of ${key}`, changes),
  ];
}

function ofMirror(state: State, endpoints: Endpoints): readonly string[] {
  const key = objectKey(endpoints.metadata);
  const existing = slicesOf(state, key, mirrorManager);
  const isMirrored = shouldMirror(endpoints, state.services.get(key));
  const changes = isMirrored
    ? diffMirror(endpoints, desiredMirror(endpoints, 1000), existing)
    : { create: [], update: [], delete: existing };
  return describe(`mirror of ${key}`, changes);
}

function describe(
  what: string,
  changes: { create: readonly unknown[]; update: readonly unknown[]; delete: readonly unknown[] },
): readonly string[] {
  const counts = [changes.create.length, changes.update.length, changes.delete.length];
  return counts.some((count) => count > 0)
    ? [`${what}: ${counts[0]} to create, ${counts[1]} to update, ${counts[2]} to delete`]
    : [];
}

/** What is left of objects that are gone. */
function ofStrays({ services, endpoints, slices }: State): readonly string[] {
  const keyOf = ({ metadata }: EndpointSlice): string =>
    `${metadata.namespace}/${metadata.labels?.[serviceNameLabel]}`;
  const managers = [sliceManager, mirrorManager];
  return [
    ...slices
      .filter(({ metadata }) => managers.includes(metadata.labels?.[sliceManagedByLabel] ?? ''))
      .filter((slice) => !services.has(keyOf(slice)))
      .map((slice) => `slice ${slice.metadata.name} of no service`),
    ...[...endpoints.keys()]
      .filter((key) => !services.has(key))
      .map((k) => `Endpoints ${k} of none`),
  ];
}

async function ofAddresses(
  { services }: State,
  { caller, now }: RestOptions,
): Promise<readonly string[]> {
  const { items } = await resourceClient(caller, ipAddressDefinition).list();
  const named = new Map(items.map((address) => [address.metadata.name, address]));
  const ranges = (await resourceClient(caller, serviceCidrDefinition).list()).items.flatMap(
    ({ spec }) => (spec.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []),
  );
  const service = (address: IPAddress): Service | undefined =>
    services.get(serviceKeyOf(address) ?? '');
  return [
    ...[...services.values()].flatMap((one) =>
      judgeService({
        service: one,
        ranges,
        addressNamed: (name) => named.get(name),
        serviceNamed: (key) => services.get(key),
      }).map(({ message }) => message),
    ),
    ...items
      .filter(
        (address) => judgeAddress({ address, service: service(address), now }).action !== 'none',
      )
      .map(({ metadata }) => `IPAddress ${metadata.name} has no Service`),
  ];
}
