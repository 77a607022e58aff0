// The rules that a node has for some Services: what its proxy would compute from the snapshot, by the proxy's own code.
import { formatAddress, isLoopback, parseAddress } from '../ip/address.ts';
import { formatCidr, masked, parseCidr } from '../ip/cidr.ts';
import { rangesOfFamily } from '../ip/family-address.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { makeConfig } from '../proxy/config.ts';
import { createEndpointOwners, type EndpointOwners } from '../proxy/model/endpoint-owner.ts';
import { type EndpointEntry, endpointsByPort } from '../proxy/model/endpoints.ts';
import type { RefusedAddress } from '../proxy/model/own-addresses.ts';
import { explainSelection, type Selection } from '../proxy/model/select-endpoints.ts';
import type { Family, ProxyState, ServicePort } from '../proxy/model/state.ts';
import { createStateTracker, type HealthCheck, type NodeView } from '../proxy/model/track-state.ts';
import { createTrimmer, portId, type TrimmedSlice } from '../proxy/model/trim-objects.ts';
import { isWatchedSlice } from '../proxy/model/watched-objects.ts';
import type { Mode } from '../proxy/modes/mode.ts';
import { makeNodeView } from '../proxy/node-view/node-view.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { nodeAddressesOf } from './resolve-source.ts';
import type { TraceSettings } from './trace.ts';

export type TracedMode = Pick<Mode, 'name' | 'traits' | 'tracePacket'>;

export type NodeRules = {
  readonly state: ProxyState;
  readonly zone: string;
  /** By `namespace/name`: named addresses that are not captured. */
  readonly refused: ReadonlyMap<string, readonly RefusedAddress[]>;
  readonly healthChecks: ReadonlyMap<string, HealthCheck>;
  /** All endpoints of the port, used or not. */
  readonly entriesOf: (port: ServicePort) => readonly EndpointEntry[];
  readonly selectionOf: (port: ServicePort) => Selection;
};

export type RulesOptions = {
  readonly settings: TraceSettings;
  readonly mode: TracedMode;
  /** Ranges, or the word `primary`. */
  readonly nodePortAddresses: readonly string[];
};

export type RulesRequest = {
  readonly nodeName: string;
  readonly family: Family;
  readonly services: readonly Service[];
};

export function nodeRules(
  index: SnapshotIndex,
  { nodeName, family, services }: RulesRequest,
  options: RulesOptions,
): NodeRules {
  const view = viewOf(index, { nodeName, family }, options);
  const tracker = createStateTracker(view, {
    ...{ allowsExternalIPs: true, allowsForeignAddresses: false },
    endpointOwner: ownersOf(index).ownerOf,
  });
  for (const service of services) {
    tracker.update(objectKey(service.metadata), {
      service: trimmer.service(service),
      slices: trimmedSlices(index, service),
    });
  }
  const { state } = tracker.take();
  const byService = new Map(
    services.map((service) => {
      const byPort = endpointsByPort(trimmedSlices(index, service), { family, nodeName });
      return [objectKey(service.metadata), byPort] as const;
    }),
  );
  const entriesOf = ({ namespace, name, portName, protocol }: ServicePort) =>
    byService.get(`${namespace}/${name}`)?.get(portId(portName, protocol)) ?? [];
  const { zone } = view;
  // Requested for each endpoint, of which there may be 100,000.
  const selections = new Map<ServicePort, Selection>();
  const selectionOf = (port: ServicePort): Selection => {
    const known =
      selections.get(port) ?? explainSelection(entriesOf(port), port, { nodeName, zone });
    selections.set(port, known);
    return known;
  };
  return {
    ...{ state, zone, entriesOf },
    refused: tracker.refused(),
    healthChecks: tracker.healthChecks(),
    selectionOf,
  };
}

const trimmer = createTrimmer();
const trimmed = new WeakMap<EndpointSlice, TrimmedSlice>();

function trimOnce(slice: EndpointSlice): TrimmedSlice {
  const known = trimmed.get(slice);
  if (known !== undefined) return known;
  const made = trimmer.slice(slice);
  trimmed.set(slice, made);
  return made;
}

function trimmedSlices(index: SnapshotIndex, { metadata }: Service): readonly TrimmedSlice[] {
  const { namespace = '', name = '' } = metadata;
  return index.slicesOf(namespace, name).filter(isWatchedSlice).map(trimOnce);
}

/** By snapshot: many nodes and Services are judged over one. */
const owners = new WeakMap<SnapshotIndex, EndpointOwners>();

function ownersOf(index: SnapshotIndex): EndpointOwners {
  const known = owners.get(index);
  if (known !== undefined) return known;
  const made = createEndpointOwners(() => allSlices(index));
  owners.set(index, made);
  return made;
}

function allSlices({ snapshot }: SnapshotIndex): readonly TrimmedSlice[] {
  return snapshot.objects.endpointSlices.filter(isWatchedSlice).map(trimOnce);
}

export const families = ['IPv4', 'IPv6'] as const satisfies readonly Family[];
const loopback = { IPv4: '127.0.0.1', IPv6: '::1' } as const;

type KnownView = { readonly view: NodeView; readonly options: RulesOptions };

/** By snapshot, then by node and family: many Services are judged at one node. */
const views = new WeakMap<SnapshotIndex, Map<string, KnownView>>();

type ViewRequest = { readonly nodeName: string; readonly family: Family };

function viewOf(index: SnapshotIndex, request: ViewRequest, options: RulesOptions): NodeView {
  const all = views.get(index) ?? new Map<string, KnownView>();
  views.set(index, all);
  const key = `${request.family} ${request.nodeName}`;
  const known = all.get(key);
  const isSame =
    known !== undefined &&
    known.options.settings === options.settings &&
    known.options.mode === options.mode &&
    known.options.nodePortAddresses === options.nodePortAddresses;
  if (isSame) return known.view;
  const view = makeView(index, request, options);
  all.set(key, { view, options });
  return view;
}

function makeView(
  index: SnapshotIndex,
  { nodeName, family }: ViewRequest,
  { settings, mode, nodePortAddresses }: RulesOptions,
): NodeView {
  const node = index.node(nodeName);
  const own = node === undefined ? [] : nodeAddressesOf(node);
  // Proxies know one range of each family; where only those of nodes are known, it is the range around them.
  const clusterCIDRs = families.flatMap((one) => rangeAround(settings.podRanges.value, one) ?? []);
  const config = makeConfig({ clusterCIDRs, nodePortAddresses });
  return makeNodeView(config, {
    ...{ family, nodeName, node },
    nodes: index.snapshot.objects.nodes,
    serviceRanges: index.snapshot.objects.serviceCIDRs,
    interfaceAddresses: [...own, loopback[family]],
    ownAddresses: own,
    whenNodePortsUnset: mode.traits.defaultNodePortAddresses,
  });
}

/** The smallest range that contains all ranges of the family. */
function rangeAround(ranges: readonly string[], family: Family): string | undefined {
  const [first, ...others] = rangesOfFamily(ranges, family).flatMap((one) => parseCidr(one) ?? []);
  if (first === undefined) return undefined;
  let around = first;
  for (const { base, prefix } of others) {
    while (
      around.prefix > prefix ||
      masked({ address: { family, value: base }, prefix: around.prefix }).base !== around.base
    ) {
      const shorter = around.prefix - 1;
      around = masked({ address: { family, value: around.base }, prefix: shorter });
    }
  }
  return formatCidr(around);
}

/** Whether the node has the address, loopback included. */
export function isAddressOf(index: SnapshotIndex, nodeName: string, ip: string): boolean {
  const address = parseAddress(ip);
  if (address === undefined) return false;
  if (isLoopback(address)) return true;
  const node = index.node(nodeName);
  return node !== undefined && nodeAddressesOf(node).includes(formatAddress(address));
}

/** The node with the address, loopback not included. */
export function nodeAt(index: SnapshotIndex, ip: string): string | undefined {
  return index.snapshot.objects.nodes.find((node) => nodeAddressesOf(node).includes(ip))?.metadata
    .name;
}
