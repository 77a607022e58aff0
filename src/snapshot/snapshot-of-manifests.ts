// The cluster that manifests would lead to: each object as the API server would store it, and then settled.
import { decodeStrict } from '../apiserver/request/decode-body.ts';
import { familyOf } from '../ip/address.ts';
import { allKinds } from '../kinds/all.ts';
import type { AnyKind } from '../kinds/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import type { ServiceCIDR } from '../kinds/service-cidr/types.ts';
import { isApiError } from '../meta/api-error.ts';
import { groupVersion, type KubeObject, objectKey, withMetadata } from '../meta/object.ts';
import { admitCreate, admitStored } from './admit-object.ts';
import { createNameMaker, madeUid } from './made-names.ts';
import {
  madeUpNamespaces,
  madeUpNodes,
  readyUnlessReported,
  withBalancers,
} from './made-up-cluster.ts';
import type { Manifest } from './manifest.ts';
import { createReserver, defaultServiceCidrs, madeServiceCidr } from './reserve-addresses.ts';
import { settle, TooManyPodsError } from './settle.ts';
import { createdPod } from './settle-workloads.ts';
import {
  allSnapshotKinds,
  makeSnapshot,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
  snapshotKinds,
} from './snapshot.ts';
import {
  decodeWorkload,
  isLenientWorkload,
  type LenientWorkload,
  workloadPods,
} from './workload-pods.ts';

export type ManifestsOptions = {
  /** Of objects that name none. */
  readonly namespace: string;
  /** Milliseconds. */
  readonly now: number;
};

export type ManifestProblem = Pick<Manifest, 'source' | 'line'> & {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The API server's. */
  readonly message: string;
};

export type ManifestSnapshot = {
  readonly snapshot: Snapshot;
  /** Objects that the API server would refuse; they are not in the snapshot. */
  readonly problems: readonly ManifestProblem[];
  /** Kinds that say nothing about Services, such as `Certificate`, each once. */
  readonly ignoredKinds: readonly string[];
  /** The manifests have no nodes: there are three, in two zones, which take every pod. */
  readonly hasMadeUpNodes: boolean;
  /** Where an object of the snapshot comes from; absent for what was made of others. */
  readonly sourceOf: (object: KubeObject) => Pick<Manifest, 'source' | 'line'> | undefined;
};

export function snapshotOfManifests(
  manifests: readonly Manifest[],
  options: ManifestsOptions,
): ManifestSnapshot {
  const decoded = decodeAll(manifests, options);
  const admitted = admitAll(decoded.objects, options);
  const hasMadeUpNodes = admitted.objects.nodes.length === 0;
  const completed = complete(admitted.objects, admitted.workloads, options);
  const settled = settleAll(completed, { now: options.now, fitsAnywhere: hasMadeUpNodes });
  const sources = new Map(
    manifests.map(({ object, source, line }) => [idOf(object, options), { source, line }]),
  );
  return {
    snapshot: settled.snapshot,
    problems: [...decoded.problems, ...admitted.problems, ...settled.problems].sort(
      byPosition(manifests),
    ),
    ignoredKinds: decoded.ignoredKinds,
    hasMadeUpNodes,
    sourceOf: (object) => sources.get(idOf(object, options)),
  };
}

function idOf({ apiVersion, kind, metadata }: KubeObject, { namespace }: ManifestsOptions): string {
  const { namespaced = true } = kindOf(apiVersion, kind) ?? {};
  const key = namespaced ? `${metadata.namespace ?? namespace}/${metadata.name}` : metadata.name;
  return `${apiVersion} ${kind} ${key}`;
}

function byPosition(manifests: readonly Manifest[]) {
  const order = new Map(manifests.map(({ source }, index) => [source, index]));
  return (a: ManifestProblem, b: ManifestProblem): number =>
    (order.get(a.source) ?? 0) - (order.get(b.source) ?? 0) || a.line - b.line;
}

const kindOf = (apiVersion: string, kind: string): AnyKind | undefined =>
  allKinds.find((one) => one.kind === kind && groupVersion(one.group, one.version) === apiVersion);

type DecodedManifest = {
  readonly manifest: Manifest;
  readonly definition: AnyKind;
  readonly object: KubeObject;
};

type Decoding = {
  readonly objects: readonly DecodedManifest[];
  readonly problems: readonly ManifestProblem[];
  readonly ignoredKinds: readonly string[];
};

function decodeAll(manifests: readonly Manifest[], options: ManifestsOptions): Decoding {
  const objects = new Map<string, DecodedManifest>();
  const problems: ManifestProblem[] = [];
  const ignored = new Set<string>();
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest.object;
    const definition = kindOf(apiVersion, kind);
    attempt(manifest, problems, () => {
      if (definition !== undefined) {
        const read = decodeStrict(definition, manifest.object, manifest.duplicates);
        const object = definition.namespaced ? inNamespace(read, options) : read;
        // What is applied twice is there once.
        objects.set(idOf(object, options), { manifest, definition, object });
      } else if (isOfOtherVersion(manifest.object)) {
        problems.push(
          problemOf(manifest, `no matches for kind "${kind}" in version "${apiVersion}"`),
        );
      } else ignored.add(kind);
    });
  }
  return { objects: [...objects.values()], problems, ignoredKinds: [...ignored].sort() };
}

/** Of a group in which everything once was, too. */
function isOfOtherVersion({ apiVersion, kind }: KubeObject): boolean {
  const group = groupOf(apiVersion);
  return allKinds.some(
    (one) => one.kind === kind && (one.group === group || group === 'extensions'),
  );
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

function inNamespace<T extends KubeObject>(object: T, { namespace }: ManifestsOptions): T {
  return withMetadata(object, {
    ...object.metadata,
    namespace: object.metadata.namespace ?? namespace,
  });
}

function identifiedWorkload(workload: LenientWorkload): LenientWorkload {
  const { metadata, kind } = workload;
  return withMetadata(workload, {
    ...metadata,
    uid: metadata.uid ?? madeUid(kind, objectKey(metadata)),
  });
}

/** Records the API server's refusal; anything else is a defect, and thrown. */
function attempt(manifest: Manifest, problems: ManifestProblem[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isApiError(error)) throw error;
    problems.push(problemOf(manifest, error.message));
  }
}

function problemOf({ source, line, object }: Manifest, message: string): ManifestProblem {
  const { kind, metadata } = object;
  const { namespace, name = '' } = metadata;
  return { source, line, kind, name, ...(namespace === undefined ? {} : { namespace }), message };
}

type Admitted = {
  readonly objects: SnapshotObjects;
  /** Whose pods settle() does not make. */
  readonly workloads: readonly LenientWorkload[];
  readonly problems: readonly ManifestProblem[];
};

function admitAll(decoded: readonly DecodedManifest[], { now }: ManifestsOptions): Admitted {
  const problems: ManifestProblem[] = [];
  const found = new Map<AnyKind, KubeObject[]>();
  const workloads: LenientWorkload[] = [];
  const given = decoded.filter(({ object }) => object.kind === 'ServiceCIDR');
  const serviceCIDRs =
    given.length > 0
      ? given.map(({ object }) => object as ServiceCIDR)
      : [madeServiceCidr(rangesFor(decoded))];
  const reserver = createReserver({ services: [], serviceCIDRs, now });
  for (const { manifest, definition, object } of requestedFirst(decoded)) {
    attempt(manifest, problems, () => {
      // The labels of a job have its UID, and that of a manifest is made up and no label.
      if (definition.group === 'batch') {
        workloads.push(identifiedWorkload(decodeWorkload(object)));
        return;
      }
      const admit = wasStored(object) ? admitStored : admitCreate;
      const stored = admit(definition, withoutServerFields(object), { now, reserver });
      if (isLenientWorkload(stored)) {
        workloads.push(identifiedWorkload(decodeWorkload(stored)));
        return;
      }
      const list = found.get(definition);
      if (list === undefined) found.set(definition, [stored]);
      else list.push(stored);
    });
  }
  const objects = Object.fromEntries(
    allSnapshotKinds.map((kind: SnapshotKind) => [kind, found.get(snapshotKinds[kind]) ?? []]),
  ) as unknown as SnapshotObjects;
  return { objects: { ...objects, serviceCIDRs }, workloads, problems };
}

/** Services that ask for an address or a port get it before others take it. */
function requestedFirst(decoded: readonly DecodedManifest[]): readonly DecodedManifest[] {
  const asks = ({ object }: DecodedManifest): number => {
    const { spec } = object as Service;
    const isService = object.kind === 'Service';
    return Number(
      isService && (spec.clusterIP !== undefined || spec.ports?.some((p) => p.nodePort) === true),
    );
  };
  return [...decoded].sort((a, b) => asks(b) - asks(a));
}

/** The default ranges, and one around each address that is requested elsewhere: the cluster has it, or the manifest would be of no use. */
function rangesFor(decoded: readonly DecodedManifest[]): readonly string[] {
  const requested = decoded.flatMap(({ object }) =>
    object.kind === 'Service' ? ((object as Service).spec.clusterIP ?? []) : [],
  );
  const around = requested.flatMap((ip) => {
    const family = familyOf(ip);
    if (family === undefined) return [];
    return family === 'IPv4' ? `${ip.split('.').slice(0, 2).join('.')}.0.0/16` : [];
  });
  return [...new Set([...defaultServiceCidrs, ...around])];
}

function withoutServerFields(object: KubeObject): KubeObject {
  const {
    resourceVersion: _version,
    selfLink: _link,
    managedFields: _fields,
    ...metadata
  } = object.metadata;
  return withMetadata(object, metadata);
}

/** Read from a cluster, as `kubectl get -o yaml` prints it; a node is always of one. */
const wasStored = ({ kind, metadata }: KubeObject): boolean =>
  metadata.uid !== undefined || kind === 'Node';

/** With what a cluster has besides, and with the pods of the workloads that settle() does not know. */
function complete(
  objects: SnapshotObjects,
  workloads: readonly LenientWorkload[],
  { now }: ManifestsOptions,
): SnapshotObjects {
  const nodes =
    objects.nodes.length > 0
      ? objects.nodes.map(readyUnlessReported)
      : madeUpNodes(objects.pods, now);
  const pods = [...objects.pods];
  const taken = new Set(pods.map(({ metadata }) => objectKey(metadata)));
  const names = createNameMaker((_kind, key) => taken.has(key));
  const owned = new Set(
    pods.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)),
  );
  for (const workload of workloads) {
    // Of a cluster that was read, its pods are there.
    if (owned.has(workload.metadata.uid ?? '')) continue;
    for (const pod of workloadPods(workload, nodes)) {
      const made = createdPod(names, pod, now);
      taken.add(objectKey(made.metadata));
      pods.push(made);
    }
  }
  const all = [...Object.values(objects).flat(), ...pods] as readonly KubeObject[];
  return {
    ...objects,
    nodes,
    pods,
    services: withBalancers(objects.services),
    namespaces: [...objects.namespaces, ...madeUpNamespaces(all, objects.namespaces, now)],
  };
}

type Settled = Pick<ManifestSnapshot, 'snapshot' | 'problems'>;

function settleAll(
  objects: SnapshotObjects,
  options: { readonly now: number; readonly fitsAnywhere: boolean },
): Settled {
  const snapshot = makeSnapshot({ objects });
  try {
    return { snapshot: settle(snapshot, options), problems: [] };
  } catch (error) {
    if (!(error instanceof TooManyPodsError)) throw error;
    const problem = { source: '', line: 0, kind: 'Pod', name: '', message: error.message };
    return { snapshot, problems: [problem] };
  }
}
