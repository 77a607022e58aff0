// Reserves addresses and node ports in the transaction that writes the Service, so that neither ever exists without the
// other. Runs before preparation and validation, as upstream's allocation does.
import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import type { Cidr } from '../../ip/cidr.ts';
import type { PortRange } from '../../ip/port-range.ts';
import { endpointsDefinition } from '../../kinds/endpoints/definition.ts';
import { ipAddressDefinition } from '../../kinds/ip-address/definition.ts';
import type { IPAddress } from '../../kinds/ip-address/types.ts';
import {
  clusterAddresses,
  nodePortsHeld,
  planAddresses,
  planNodePorts,
} from '../../kinds/service/allocation.ts';
import { settleIPFamilies } from '../../kinds/service/ip-families.ts';
import { completeCreate, completeUpdate } from '../../kinds/service/keep-allocated.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import { invalid } from '../../meta/api-error.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import type { Compare, Write } from '../../storage/store.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type Codec, createCodec } from '../cache/stored-object.ts';
import type { Reservation, Reserve } from '../objects/reservation.ts';
import { type AddressRange, createRangeIndex } from './address-ranges.ts';
import type { AllocatedAddresses } from './allocated-addresses.ts';
import { allocateAddresses, ipAddressResource } from './cluster-ip.ts';
import type { AllocatorMetrics } from './metrics.ts';
import { allocateNodePorts } from './node-port.ts';
import { type NodePortView, nodePortKey, nodePortValue } from './node-port-view.ts';

export type ServiceReservationOptions = {
  readonly reader: ObjectReader;
  readonly addresses: AllocatedAddresses;
  readonly nodePorts: NodePortView;
  readonly config: {
    /** One range, or one of each family; the first gives the default family. */
    readonly serviceCidrs: readonly Cidr[];
    readonly nodePortRange: PortRange;
  };
  /** A whole number from 0 up to, but not, the given one. */
  readonly random: (below: number) => number;
  readonly newUid: () => string;
  /** Milliseconds. */
  readonly now: () => number;
  /** Absent: not counted. */
  readonly metrics?: AllocatorMetrics;
};

export function reserveService(options: ServiceReservationOptions): Reserve {
  const ranges = createRangeIndex(options.reader);
  const families = options.config.serviceCidrs.map((cidr) => cidr.family);
  const real: Deps = { ...options, ranges, families, dryRun: false };
  const trial: Deps = { ...real, dryRun: true };
  return ({ before, after, dryRun }) => {
    const deps = dryRun ? trial : real;
    if (after !== undefined) return reserve(before as Service | undefined, after as Service, deps);
    const nothing = before === undefined || dryRun;
    return nothing ? { compare: [], write: [] } : releaseAll(before as Service, deps);
  };
}

type Deps = ServiceReservationOptions & {
  readonly ranges: (family: IPFamily) => readonly AddressRange[];
  readonly families: readonly IPFamily[];
  readonly dryRun: boolean;
};

function reserve(before: Service | undefined, after: Service, deps: Deps): Reservation {
  const { config, dryRun } = deps;
  if (before !== undefined && before.spec === after.spec && isSettled(after.spec, config)) {
    return { object: after, compare: [], write: [] };
  }
  const complete = before === undefined ? completeCreate(after) : completeUpdate(before, after);
  const settled = settle(before, complete, deps.families);
  const addressPlan = planAddresses(before, settled);
  const { reader, addresses, ranges, random, newUid, metrics, nodePorts: view } = deps;
  const now = formatTime(deps.now());
  const source = { reader, addresses, ranges, random, newUid, metrics, dryRun, now };
  const addressed = allocateAddresses(settled, addressPlan.take, source);
  const range = config.nodePortRange;
  const plan = planNodePorts(before, addressed.service);
  const ports = allocateNodePorts(addressed.service, plan, {
    view,
    range,
    random,
    metrics,
    dryRun,
  });
  const object = ports.service;
  if (dryRun) return { object, compare: [], write: [] };
  const steps = addressed.taken.map(createAddress);
  for (const port of ports.taken) steps.push(createPort(port, objectKey(after.metadata)));
  if (before !== undefined) {
    steps.push(...releaseAddresses(after, addressPlan.giveBack, deps));
    steps.push(...releasePorts(after, portsDropped(before, object), deps));
  }
  const { compare, write } = transaction(steps);
  return { object, compare, write };
}

function portsDropped(before: Service, after: Service): readonly number[] {
  const kept = new Set(nodePortsHeld(after));
  return nodePortsHeld(before).filter((port) => !kept.has(port));
}

/** Whether all its addresses are allocated: most writes do not change the spec of such a Service. */
function isSettled(
  { type, clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy }: Service['spec'],
  { serviceCidrs }: ServiceReservationOptions['config'],
): boolean {
  const isServed = (family: string): boolean => serviceCidrs.some((c) => c.family === family);
  const isSingle = clusterIPs.length === 1 && clusterIP === clusterIPs[0];
  const hasPlainFamily = ipFamilyPolicy === 'SingleStack' && ipFamilies.length === 1;
  return type === 'ClusterIP' && isSingle && hasPlainFamily && ipFamilies.every(isServed);
}

function settle(
  before: Service | undefined,
  after: Service,
  families: readonly IPFamily[],
): Service {
  const outcome = settleIPFamilies(
    before === undefined ? { after, families } : { before, after, families },
  );
  if ('service' in outcome) return outcome.service;
  throw invalid({ group: '', kind: 'Service' }, after.metadata.name ?? '', outcome.errors);
}

/** Deletes the Endpoints too: a new Service of that name must not use those of the deleted one. */
function releaseAll(service: Service, deps: Deps): Reservation {
  const { name = '', namespace = '' } = service.metadata;
  const owned = deps.nodePorts.ownedBy(objectKey(service.metadata));
  const endpoints = deps.reader.get('endpoints', namespace, name);
  return transaction([
    ...releaseAddresses(service, clusterAddresses(service), deps),
    ...releasePorts(service, owned, deps),
    ...(endpoints === undefined ? [] : removeObject(endpoints, endpointsCodec, deps)),
  ]);
}

const addressCodec = createCodec(ipAddressDefinition);
const endpointsCodec = createCodec(endpointsDefinition);

/** One key: its expected revision, and its write. */
type Step = { readonly compare: Compare; readonly write: Write };

function transaction(steps: readonly Step[]): Pick<Reservation, 'compare' | 'write'> {
  return { compare: steps.map((step) => step.compare), write: steps.map((step) => step.write) };
}

function createAddress(object: IPAddress): Step {
  const key = addressCodec.key('', object.metadata.name ?? '');
  return { compare: { key, revision: 0 }, write: addressCodec.put(key, object) };
}

function createPort(port: number, owner: string): Step {
  const key = nodePortKey(port);
  return { compare: { key, revision: 0 }, write: { put: key, value: nodePortValue(owner) } };
}

/** Only addresses of this Service: an IPAddress with another parent is not deleted. */
function releaseAddresses(
  service: Service,
  addresses: readonly string[],
  deps: Deps,
): readonly Step[] {
  return addresses.flatMap((text) => {
    const address = parseAddressSloppy(text);
    if (address === undefined) return [];
    const object = deps.reader.get(ipAddressResource, '', formatAddress(address));
    if (object === undefined || !belongsTo(object as IPAddress, service)) return [];
    return removeObject(object, addressCodec, deps);
  });
}

function belongsTo({ spec }: IPAddress, { metadata }: Service): boolean {
  const { group, resource, namespace, name } = spec.parentRef ?? {};
  const isService = group === undefined && resource === 'services';
  return isService && namespace === metadata.namespace && name === metadata.name;
}

function releasePorts(service: Service, ports: readonly number[], deps: Deps): readonly Step[] {
  const owner = objectKey(service.metadata);
  return ports.flatMap((port) => {
    const found = deps.nodePorts.find(port);
    if (found?.service !== owner) return [];
    const key = nodePortKey(port);
    return [{ compare: { key, revision: found.revision }, write: { delete: key } }];
  });
}

/** Like a delete through the API: an object with finalizers gets a deletionTimestamp and stays until they are removed. */
function removeObject(object: KubeObject, codec: Codec, deps: Deps): readonly Step[] {
  const { metadata } = object;
  const key = codec.key(metadata.namespace ?? '', metadata.name ?? '');
  const compare = { key, revision: Number(metadata.resourceVersion) };
  const { finalizers = [], deletionTimestamp } = metadata;
  if (finalizers.length === 0) return [{ compare, write: { delete: key } }];
  if (deletionTimestamp !== undefined) return [];
  const marks = {
    deletionTimestamp: formatTime(deps.now()),
    deletionGracePeriodSeconds: 0,
  };
  const marked = { ...object, metadata: { ...metadata, ...marks } };
  return [{ compare, write: codec.put(key, marked) }];
}
