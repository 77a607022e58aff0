// Annotations of deployments and replica sets: revisions, and the size for which a set was scaled. Upstream:
// pkg/controller/deployment/util.
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { lastAppliedAnnotation } from '../../meta/well-known-annotations.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';

/** Annotations of the deployment that its replica sets do not get. */
const notCopied: readonly string[] = [
  lastAppliedAnnotation,
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
];
/** A history longer than this many characters loses its oldest entries. */
const maxHistoryLength = 2000;

type Annotations = Readonly<Record<string, string>>;

export function numberIn(set: ReplicaSet, annotation: string): number | undefined {
  const text = set.metadata.annotations?.[annotation];
  return text !== undefined && /^-?[0-9]+$/.test(text) ? Number(text) : undefined;
}

export const revisionOf = (set: ReplicaSet): number => numberIn(set, revisionAnnotation) ?? 0;

export function highestRevision(sets: readonly ReplicaSet[]): number {
  return Math.max(0, ...sets.map(revisionOf));
}

/** The annotations of the replica set that has the current template. */
export function annotationsOfCurrent(
  deployment: Deployment,
  before: Annotations,
  revision: number,
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([name]) => !notCopied.includes(name),
  );
  const annotations = { ...before, ...Object.fromEntries(copied) };
  const old = before[revisionAnnotation];
  if (Number(old ?? 0) >= revision) return annotations;
  const history = old === undefined ? {} : withHistory(before[revisionHistoryAnnotation], old);
  return { ...annotations, ...history, [revisionAnnotation]: String(revision) };
}

/** A template that is used again keeps the numbers of its earlier revisions. */
function withHistory(history: string | undefined, old: string): Annotations {
  const all = [...(history ? history.split(',') : []), old];
  while (all.length > 1 && all.join(',').length > maxHistoryLength) all.shift();
  return { [revisionHistoryAnnotation]: all.join(',') };
}

export function sizeAnnotations(desired: number, max: number): Annotations {
  return { [desiredReplicasAnnotation]: String(desired), [maxReplicasAnnotation]: String(max) };
}
