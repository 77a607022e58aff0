// From a snapshot and changes to the snapshots of the cluster before them, while they take effect, and after.
import { waitsForNode } from '../controllers/scheduler/desired.ts';
import type { Node } from '../kinds/node/types.ts';
import { isPodReady } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { hasSelectedPods } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { zoneLabel } from '../meta/well-known-labels.ts';
import { changedObjects } from '../snapshot/changed-objects.ts';
import { readyUnlessReported } from '../snapshot/made-up-cluster.ts';
import { settle, settleEndpointsOnly } from '../snapshot/settle.ts';
import { isRead, makeSnapshot, type Snapshot } from '../snapshot/snapshot.ts';
import { type Change, ChangeError } from './change.ts';
import { applyManifest } from './change-manifest.ts';
import { cordonNode, drainNode } from './change-nodes.ts';
import { deleteObject, makeUnready, scaleWorkload, setObjectField } from './change-objects.ts';
import { createDraft, type Draft, type LostPod } from './draft.ts';
import { counted } from './words.ts';

export type Prediction = {
  readonly before: Snapshot;
  /** Lost pods are gone, and new ones are not there yet; absent where no pod is lost. */
  readonly meanwhile?: Snapshot;
  readonly after: Snapshot;
  /** By key: pods that the changes take away at once. */
  readonly lost: ReadonlyMap<string, LostPod>;
  readonly effects: readonly string[];
  readonly assumptions: readonly string[];
};

export type PredictOptions = {
  /** Of what names none. */
  readonly namespace: string;
  /** Milliseconds. */
  readonly now: number;
};

/** Throws ChangeError, ApiError for objects that the API server would refuse, and TooManyPodsError. */
export function predict(
  snapshot: Snapshot,
  changes: readonly Change[],
  { namespace, now }: PredictOptions,
): Prediction {
  const { known: before, assumptions } = withNodes(snapshot);
  const draft = createDraft(before, now);
  for (const one of assumptions) draft.assumptions.add(one);
  if (snapshot.namespaces !== undefined) {
    draft.assumptions.add(
      `Only namespace ${snapshot.namespaces.join(', ')} could be read: what pods of others take of the nodes is not counted`,
    );
  }
  for (const change of changes) makeChange(draft, change, namespace);
  const changed: Snapshot = { ...before, objects: draft.objects() };
  const { lost, effects } = draft;
  if (!isRead(snapshot, 'pods')) {
    return { before, after: withoutPods(draft, changed), lost, effects, assumptions: said(draft) };
  }
  const options = { now, since: before, fitsAnywhere: !isRead(snapshot, 'nodes') };
  const after = settle(changed, options);
  const recreated = recreatedPods(before, after);
  const made = madePods(before, after);
  // Without new pods there is nothing to wait for.
  const isReplaced = made.length > 0 && (lost.size > 0 || recreated.size > 0);
  assumeOfPods(draft, before, made);
  return {
    ...{ before, after, lost, effects, assumptions: said(draft) },
    ...(isReplaced
      ? { meanwhile: settleEndpointsOnly(withoutSome(changed, recreated), options) }
      : {}),
  };
}

const said = ({ assumptions }: Draft): readonly string[] => [...assumptions].sort();

function makeChange(draft: Draft, change: Change, namespace: string): void {
  switch (change.kind) {
    case 'drain':
      drainNode(draft, change);
      break;
    case 'cordon':
      cordonNode(draft, change);
      break;
    case 'delete':
      deleteObject(draft, change);
      break;
    case 'scale':
      scaleWorkload(draft, change);
      break;
    case 'set':
      setObjectField(draft, change);
      break;
    case 'unready':
      makeUnready(draft, change);
      break;
    case 'manifest':
      applyManifest(draft, change, namespace);
  }
}

type KnownNodes = { readonly known: Snapshot; readonly assumptions: readonly string[] };

/** Where nodes cannot be read, those that pods and endpoints name. */
function withNodes(snapshot: Snapshot): KnownNodes {
  if (isRead(snapshot, 'nodes')) return { known: snapshot, assumptions: [] };
  const zones = new Map<string, string>();
  for (const { spec } of snapshot.objects.pods) if (spec.nodeName) zones.set(spec.nodeName, '');
  for (const { endpoints } of snapshot.objects.endpointSlices) {
    for (const { nodeName, zone } of endpoints ?? []) {
      if (nodeName) zones.set(nodeName, zone ?? zones.get(nodeName) ?? '');
    }
  }
  const nodes = [...zones].map(([name, zone]) =>
    readyUnlessReported({
      ...{ kind: 'Node', apiVersion: 'v1', spec: {}, status: {} },
      metadata: { name, ...(zone === '' ? {} : { labels: { [zoneLabel]: zone } }) },
    } as unknown as Node),
  );
  return {
    known: makeSnapshot({ ...snapshot, objects: { ...snapshot.objects, nodes } }),
    assumptions: [
      'Nodes cannot be read: those that pods and endpoints name are taken for all, and new pods to fit on any of them',
    ],
  };
}

/** Endpoints stay as they are: settle() would make the pods that it does not see again. */
function withoutPods(draft: Draft, changed: Snapshot): Snapshot {
  const { before, after } = { before: draft.snapshot.objects, after: changed.objects };
  for (const kind of ['deployments', 'replicaSets'] as const) {
    const [first] = changedObjects<KubeObject>(before[kind], after[kind]);
    const { kind: name, metadata } = first?.after ?? first?.before ?? {};
    if (metadata !== undefined) throw unknownPods(draft, `${name} ${objectKey(metadata)}`);
  }
  const changes = changedObjects(before.services, after.services);
  for (const one of changes) {
    const service = one.after;
    if (service !== undefined && mayMoveEndpoints(one.before, service)) {
      throw unknownPods(draft, `Service ${objectKey(service.metadata)}`);
    }
  }
  draft.assumptions.add('Pods cannot be read: endpoints are taken to stay as they are');
  const gone = changes.flatMap((one) =>
    one.after === undefined && one.before !== undefined ? [one.before] : [],
  );
  // Of Services that are deleted: without pods nothing else is settled.
  return settleEndpointsOnly(changed, {
    now: draft.now,
    since: { ...changed, objects: { ...after, services: [...after.services, ...gone] } },
  });
}

function unknownPods({ snapshot }: Draft, what: string): ChangeError {
  const why = snapshot.unread.find(({ kind }) => kind === 'pods')?.message ?? '';
  return new ChangeError(
    `The endpoints of ${what} cannot be predicted, as pods cannot be read: ${why}`,
  );
}

/** Fields of Services by which controllers choose endpoints. */
const endpointFields = [
  'selector',
  'ports',
  'publishNotReadyAddresses',
  'trafficDistribution',
  'ipFamilies',
  'type',
] as const satisfies readonly (keyof Service['spec'])[];

function mayMoveEndpoints(before: Service | undefined, after: Service): boolean {
  if (!hasSelectedPods(after)) return false;
  const differs = (field: (typeof endpointFields)[number]): boolean =>
    JSON.stringify(before?.spec[field]) !== JSON.stringify(after.spec[field]);
  return before === undefined || endpointFields.some(differs);
}

/** Pods of Deployments that end all of them before they start new ones. */
function recreatedPods(before: Snapshot, after: Snapshot): ReadonlySet<string> {
  const recreating = after.objects.deployments.filter(
    ({ spec }) => spec.strategy?.type === 'Recreate',
  );
  if (recreating.length === 0) return new Set();
  const uids = new Set(recreating.map(({ metadata }) => metadata.uid));
  const owned = (uid: string | undefined, all: ReadonlySet<string | undefined>): boolean =>
    uid !== undefined && all.has(uid);
  const sets = new Set(
    before.objects.replicaSets
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => owned(uid, uids)))
      .map(({ metadata }) => metadata.uid),
  );
  const present = new Set(after.objects.pods.map(({ metadata }) => objectKey(metadata)));
  const gone = before.objects.pods.filter(
    ({ metadata }) =>
      !present.has(objectKey(metadata)) &&
      metadata.ownerReferences?.some(({ uid }) => owned(uid, sets)),
  );
  return new Set(gone.map(({ metadata }) => objectKey(metadata)));
}

function withoutSome(snapshot: Snapshot, keys: ReadonlySet<string>): Snapshot {
  const pods = snapshot.objects.pods.filter(({ metadata }) => !keys.has(objectKey(metadata)));
  return { ...snapshot, objects: { ...snapshot.objects, pods } };
}

function madePods(before: Snapshot, after: Snapshot): readonly Pod[] {
  return changedObjects(before.objects.pods, after.objects.pods).flatMap(
    ({ before: was, after: is }) =>
      is !== undefined && was?.metadata.uid !== is.metadata.uid ? [is] : [],
  );
}

/** What settle() takes for granted, where it mattered. */
function assumeOfPods(draft: Draft, before: Snapshot, made: readonly Pod[]): void {
  const started = made.filter((pod) => !waitsForNode(pod));
  const unready = started.filter((pod) => !isPodReady(pod));
  if (started.length > unready.length) {
    draft.assumptions.add(
      `${counted(started.length - unready.length, 'new pod')} become${started.length - unready.length === 1 ? 's' : ''} ready; images, volumes and quotas are not considered, and names and addresses of new pods are made up`,
    );
  }
  if (unready.length > 0) {
    draft.assumptions.add(
      `${counted(unready.length, 'new pod')} will not become ready, as no other pod of the same template is, or its probe cannot succeed`,
    );
  }
  if (draft.lost.size > 0) {
    draft.assumptions.add(
      'Pods that go are taken to be gone; while they terminate, some still answer',
    );
  }
  if (unsettled(before).length > 0) {
    draft.assumptions.add(
      'The cluster is taken as it is now: rollouts that are still going on are not finished first',
    );
  }
}

function unsettled({ objects }: Snapshot): readonly unknown[] {
  return objects.deployments.filter(
    ({ metadata, spec, status }) =>
      status.observedGeneration !== undefined &&
      (status.observedGeneration < (metadata.generation ?? 0) ||
        (status.updatedReplicas ?? 0) < (spec.replicas ?? 1)),
  );
}
