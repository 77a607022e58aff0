// A cluster from a few lines of YAML, as the API server and the controllers would have it: defaults, cluster IPs, running pods and endpoint slices are
// filled in where the lines do not say otherwise.
import { diffSlices } from '../../../src/controllers/endpoint-slice/diff.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import { type EndpointSlice, sliceManager } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { hasSelectedPods } from '../../../src/kinds/service/backends.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { groupVersion } from '../../../src/meta/object.ts';
import { decode } from '../../../src/schema/decode.ts';
import { isJsonObject } from '../../../src/schema/json-object.ts';
import { parseYamlStream } from '../../../src/schema/yaml.ts';
import { indexSnapshot, type SnapshotIndex } from '../../../src/snapshot/index-snapshot.ts';
import {
  allSnapshotKinds,
  makeSnapshot,
  type SnapshotObjects,
  snapshotKinds,
} from '../../../src/snapshot/snapshot.ts';

type Json = Readonly<Record<string, unknown>>;

export function clusterOf(text: string): SnapshotIndex {
  const objects = parseYamlStream(text).map((parsed, at) => {
    if ('error' in parsed) throw new Error(parsed.error);
    if (!isJsonObject(parsed.value)) throw new Error('not an object');
    return completed(parsed.value, at);
  });
  const ofKind = (kind: string): readonly KubeObject[] =>
    objects.filter((object) => object.kind === kind);
  const nodes = ofKind('Node').length > 0 ? ofKind('Node') : [completed(firstNode, 0)];
  const slices = ofKind('EndpointSlice') as readonly EndpointSlice[];
  const made = (ofKind('Service') as readonly Service[]).flatMap((service) =>
    slicesOf(service, slices, ofKind('Pod') as readonly Pod[], nodes),
  );
  const lists = allSnapshotKinds.map((plural) => {
    const { kind } = snapshotKinds[plural];
    const found = kind === 'Node' ? nodes : ofKind(kind);
    return [plural, kind === 'EndpointSlice' ? [...found, ...made] : found];
  });
  return indexSnapshot(makeSnapshot({ objects: Object.fromEntries(lists) as SnapshotObjects }));
}

const firstNode: Json = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };

function completed(value: Json, at: number): KubeObject {
  const definition = allKinds.find(
    ({ kind, group, version }) =>
      kind === value.kind && groupVersion(group, version) === value.apiVersion,
  );
  if (definition === undefined) throw new Error(`no kind ${String(value.kind)}`);
  const own = isJsonObject(value.metadata) ? value.metadata : {};
  const metadata = {
    uid: `uid-${at}`,
    ...(definition.namespaced ? { namespace: 'default' } : {}),
    ...own,
  };
  const decoded = decode(definition.schema, { ...value, metadata });
  const problem = decoded.error ?? decoded.problems.unknown[0];
  if (problem !== undefined) throw new Error(`${String(value.kind)}: ${problem}`);
  const object = decoded.object as KubeObject;
  const full = definition.defaults === undefined ? object : definition.defaults(object as never);
  if (value.kind === 'Service') return withAddresses(full as Service, at);
  return value.kind === 'Pod' ? withStatus(full as Pod, value, at) : full;
}

function withAddresses(service: Service, at: number): Service {
  const { spec } = service;
  if (spec.type === 'ExternalName') return service;
  const families = spec.ipFamilies ?? ['IPv4'];
  const own = families.map((family) =>
    family === 'IPv4' ? `10.96.1.${at + 1}` : `fd96::${at + 1}`,
  );
  const clusterIPs = spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : own);
  return {
    ...service,
    spec: { ...spec, clusterIP: clusterIPs[0] ?? '', clusterIPs, ipFamilies: families },
  };
}

/** Ready on node n1, unless the lines say otherwise. */
function withStatus(pod: Pod, value: Json, at: number): Pod {
  const given = isJsonObject(value.status) ? value.status : undefined;
  const ip = `10.244.0.${at + 1}`;
  const isPlaced = given === undefined || pod.status.phase === 'Running';
  return {
    ...pod,
    spec: isPlaced ? { nodeName: 'n1', ...pod.spec } : pod.spec,
    status: {
      phase: 'Running',
      ...(isPlaced ? { podIP: ip, podIPs: [{ ip }] } : {}),
      ...(given === undefined ? { conditions: [{ type: 'Ready', status: 'True' }] } : {}),
      ...pod.status,
    } as Pod['status'],
  };
}

function slicesOf(
  service: Service,
  given: readonly EndpointSlice[],
  pods: readonly Pod[],
  nodes: readonly KubeObject[],
): readonly EndpointSlice[] {
  const { name = '', namespace } = service.metadata;
  const isGiven = given.some(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name &&
      // Hand-made slices stand beside those of the controller.
      metadata.labels['endpointslice.kubernetes.io/managed-by'] === sliceManager,
  );
  if (!hasSelectedPods(service) || isGiven) return [];
  const selector = Object.entries(service.spec.selector ?? {});
  const selected = pods.filter(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      selector.every(([key, value]) => metadata.labels?.[key] === value),
  );
  const { create } = diffSlices({
    service,
    pods: selected,
    node: (nodeName) => nodes.find(({ metadata }) => metadata.name === nodeName) as never,
    zones: undefined,
    existing: [],
    spreadBefore: new Map(),
    maxPerSlice: 100,
  });
  return create.map((slice, at) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `${name}-${at}` },
  }));
}
