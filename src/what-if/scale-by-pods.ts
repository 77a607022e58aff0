// Scales workloads that a snapshot knows by their pods alone: StatefulSets and ReplicationControllers.
import { planReplicas } from '../controllers/replica-set/desired.ts';
import { isActive } from '../kinds/pod/activity.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { controllerOf } from '../meta/owner.ts';
import { podIndexLabel, statefulPodLabel } from '../meta/well-known-labels.ts';
import { maxNewPods, TooManyPodsError } from '../snapshot/settle.ts';
import { type Change, ChangeError, noPodsOf, type ObjectRef, refText } from './change.ts';
import { type Draft, requireRead } from './draft.ts';
import { copyOf, isControlledBy, losePods } from './lose-pods.ts';
import { counted } from './words.ts';

type ScaleChange = Extract<Change, { kind: 'scale' }>;

export function scaleByPods(draft: Draft, change: ScaleChange): void {
  const { target, replicas } = change;
  if (replicas < 0) throw new ChangeError(`${change.text}: want a number from 0`);
  requireRead(draft, 'pods', { text: change.text, namespace: target.namespace });
  const pods = draft.all('pods').filter((pod) => isActive(pod) && isControlledBy(pod, target));
  if (pods.length === 0) throw noPodsOf(target, change);
  if (replicas - pods.length > maxNewPods) throw new TooManyPodsError();
  draft.assumptions.add(
    `${refText(target)} is known by its pods alone: ${counted(pods.length, 'replica')}, new ones like these`,
  );
  if (target.kind === 'StatefulSet') scaleStateful(draft, pods, change);
  else scaleAlike(draft, pods, change);
  draft.effects.push(`${change.text}: from ${counted(pods.length, 'replica')}`);
}

/** The highest numbers go first. */
function scaleStateful(draft: Draft, pods: readonly Pod[], change: ScaleChange): void {
  const ordered = pods
    .map((pod) => ({ pod, ordinal: ordinalOf(pod) }))
    .sort((a, b) => a.ordinal - b.ordinal);
  const extra = ordered.slice(change.replicas).map(({ pod }) => pod);
  losePods(draft, extra, { how: 'deleted', by: change, forGood: true });
  const last = ordered.at(-1);
  if (last === undefined) return;
  for (let more = 1; more <= change.replicas - ordered.length; more += 1) {
    const name = `${change.target.name}-${last.ordinal + more}`;
    const copy = copyOf(draft, last.pod, { keepsNode: false, keepsName: false, name });
    draft.put('pods', numbered(copy, name, last.ordinal + more));
  }
}

const ordinalOf = ({ metadata }: Pod): number => {
  const text = /-(\d{1,9})$/.exec(metadata.name ?? '')?.[1];
  return text === undefined ? 0 : Number(text);
};

function numbered(pod: Pod, name: string, ordinal: number): Pod {
  const labels = {
    ...pod.metadata.labels,
    ...{ [statefulPodLabel]: name, [podIndexLabel]: `${ordinal}` },
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, ...(pod.spec.hostname === undefined ? {} : { hostname: name }) },
  };
}

function scaleAlike(draft: Draft, pods: readonly Pod[], change: ScaleChange): void {
  const { replicas, target } = change;
  let active = pods;
  while (active.length > replicas) {
    const owner = ownerOf(target, active, replicas);
    const { delete: extra } = planReplicas({
      owner,
      pods: active,
      related: active,
      now: draft.now,
    });
    losePods(draft, extra, { how: 'deleted', by: change, forGood: true });
    const gone = new Set(extra);
    active = active.filter((pod) => !gone.has(pod));
  }
  const [first] = pods;
  for (let more = active.length; first !== undefined && more < replicas; more += 1) {
    draft.put('pods', copyOf(draft, first, { keepsNode: false, keepsName: false }));
  }
}

/** As much of it as decides which pods go. */
function ownerOf(
  { kind, name, namespace = '' }: ObjectRef,
  pods: readonly Pod[],
  replicas: number,
) {
  const uid = pods.flatMap((pod) => controllerOf(pod)?.uid ?? [])[0] ?? '';
  return {
    ...{ kind, apiVersion: 'v1', metadata: { name, namespace, uid } },
    ...{ spec: { replicas }, status: { replicas: pods.length } },
  };
}
