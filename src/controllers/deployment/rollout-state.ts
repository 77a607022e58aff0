// State of a rollout: the replica sets and the changes planned so far. Each step takes one and returns the next.
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { sizeAnnotations } from './annotations.ts';
import { maxSurge, sizeOf, wantedOf } from './limits.ts';

export const hashLabel = 'pod-template-hash';

export type Rollout = {
  /** With the status as planned so far. */
  readonly deployment: Deployment;
  /** The replica set of the current template. */
  readonly current?: ReplicaSet;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSet[];
  readonly changes: readonly SetChange[];
};

export type SetChange = {
  readonly action: 'create' | 'update';
  readonly replicaSet: ReplicaSet;
  /** The previous size, when the change scales the set. */
  readonly scaledFrom?: number;
};

export function startRollout(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const ordered = [...sets].sort(byAge);
  const current = ordered.find((set) => hasTemplate(set, deployment.spec.template));
  const old = ordered.filter((set) => set !== current);
  return { deployment, old, changes: [], ...(current === undefined ? {} : { current }) };
}

export function allSets({ current, old }: Rollout): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

export const isInUse = (set: ReplicaSet): boolean => sizeOf(set) > 0;

/** By creation time, then by name. */
export function byAge(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compare(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The pod-template-hash label is not part of the comparison. */
export function hasTemplate({ spec }: ReplicaSet, template: PodTemplateSpec): boolean {
  return deepEqual(withoutHash(spec.template), withoutHash(template));
}

function withoutHash({ metadata, spec }: PodTemplateSpec): unknown {
  const { labels = {}, annotations = {}, ...others } = metadata;
  const { [hashLabel]: _, ...ownLabels } = labels;
  return { metadata: { ...others, labels: ownLabels, annotations }, spec };
}

/** Scales the set and records the deployment's size in its annotations. */
export function scaleTo(rollout: Rollout, set: ReplicaSet, replicas: number): Rollout {
  const { deployment } = rollout;
  const wanted = wantedOf(deployment);
  const annotations = {
    ...set.metadata.annotations,
    ...sizeAnnotations(wanted, wanted + maxSurge(deployment)),
  };
  const from = sizeOf(set);
  if (from === replicas && deepEqual(annotations, set.metadata.annotations)) return rollout;
  const replicaSet = {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, replicas },
  };
  return withChange(rollout, {
    action: 'update',
    replicaSet,
    ...(from === replicas ? {} : { scaledFrom: from }),
  });
}

export function withChange(rollout: Rollout, change: SetChange): Rollout {
  const { replicaSet } = change;
  const isSame = ({ metadata }: ReplicaSet): boolean => metadata.name === replicaSet.metadata.name;
  const replace = (set: ReplicaSet): ReplicaSet => (isSame(set) ? replicaSet : set);
  const isCurrent = rollout.current !== undefined && isSame(rollout.current);
  return {
    ...rollout,
    ...(isCurrent || change.action === 'create' ? { current: replicaSet } : {}),
    old: rollout.old.map(replace),
    changes: [...rollout.changes, change],
  };
}
