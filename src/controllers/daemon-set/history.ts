// The revisions of a daemon set: which one is current, and which old ones go. Upstream: constructHistory() and
// cleanupHistory() in pkg/controller/daemon.
import {
  byRevision,
  hasTemplate,
  highestRevision,
  revisionData,
} from '../../kinds/controller-revision/history.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { templateHash } from '../../kinds/pod-template/template-hash.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { revisionLabel } from '../../meta/well-known-labels.ts';

export type History = {
  /** Of the current template; absent: to be created. */
  readonly current?: ControllerRevision;
  /** What `current` or its successor is numbered. */
  readonly number: number;
  /** The earliest first. */
  readonly old: readonly ControllerRevision[];
  /** Further revisions of the current template. */
  readonly duplicates: readonly ControllerRevision[];
};

export function readHistory(
  { spec }: DaemonSet,
  revisions: readonly ControllerRevision[],
): History {
  const isCurrent = (revision: ControllerRevision): boolean => hasTemplate(revision, spec.template);
  const [current, ...duplicates] = revisions.filter(isCurrent).sort(byRevision).reverse();
  const old = revisions.filter((revision) => !isCurrent(revision)).sort(byRevision);
  const next = highestRevision(old) + 1;
  return {
    ...(current === undefined ? {} : { current }),
    number: Math.max(next, current?.revision ?? 0),
    old,
    duplicates,
  };
}

/** A revision without the label is named by its own name, which is a hash as well. */
export const hashOf = ({ metadata }: ControllerRevision): string =>
  metadata.labels?.[revisionLabel] ?? metadata.name ?? '';

export function newRevision(set: DaemonSet, number: number): ControllerRevision {
  const { template } = set.spec;
  const { name = '', namespace = '', annotations } = set.metadata;
  const hash = templateHash(template, set.status.collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata.labels, [revisionLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(set)],
    },
    data: revisionData({ template }),
    revision: number,
  };
}

/** The earliest go, except those that a pod is of. */
export function expiredRevisions(
  { spec }: DaemonSet,
  { old }: History,
  pods: readonly Pod[],
): readonly ControllerRevision[] {
  const surplus = old.length - (spec.revisionHistoryLimit ?? 0);
  if (surplus <= 0) return [];
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? ''));
  return old.filter((revision) => !live.has(hashOf(revision))).slice(0, surplus);
}
