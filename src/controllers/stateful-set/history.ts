// The revisions of a stateful set: the one before the update, that of the update, and those that go. Upstream:
// getStatefulSetRevisions() and truncateHistory() in pkg/controller/statefulset.
import {
  byRevision,
  hashData,
  hasTemplate,
  highestRevision,
  revisionData,
  templateIn,
} from '../../kinds/controller-revision/history.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { defaultPodTemplate } from '../../kinds/pod-template/defaults.ts';
import { type PodTemplateSpec, podTemplateSpec } from '../../kinds/pod-template/types.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { decode } from '../../schema/decode.ts';
import { revisionOf, type Version } from './member-pod.ts';

export type UpdateRevision =
  /** Of the current template, and the latest. */
  | { readonly action: 'none'; readonly revision: ControllerRevision }
  /** An earlier revision is used again: it gets a new number. */
  | { readonly action: 'renumber'; readonly revision: ControllerRevision }
  | { readonly action: 'create'; readonly number: number };

export function updateRevisionOf(
  { spec }: StatefulSet,
  revisions: readonly ControllerRevision[],
): UpdateRevision {
  const ordered = revisions.toSorted(byRevision);
  const equal = ordered.findLast((revision) => hasTemplate(revision, spec.template));
  const number = highestRevision(ordered) + 1;
  if (equal === undefined) return { action: 'create', number };
  if (equal === ordered.at(-1)) return { action: 'none', revision: equal };
  return { action: 'renumber', revision: { ...equal, revision: number } };
}

export function newRevision(
  set: StatefulSet,
  number: number,
  collisionCount: number,
): ControllerRevision {
  const { template } = set.spec;
  const { name, namespace = '', annotations } = set.metadata;
  const data = revisionData({ template });
  const hash = hashData(data, collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata.labels, 'controller.kubernetes.io/hash': hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(set)],
    },
    data,
    revision: number,
  };
}

/** The update itself while there is no other. */
export function currentRevisionOf(
  { status }: StatefulSet,
  revisions: readonly ControllerRevision[],
  update: ControllerRevision,
): ControllerRevision {
  const current = revisions.find(({ metadata }) => metadata.name === status.currentRevision);
  return current === undefined || current.metadata.uid === update.metadata.uid ? update : current;
}

/** Undefined when the revision, which people may have written, has no template. */
export function versionOf(revision: ControllerRevision): Version | undefined {
  const template = templateIn(revision);
  if (template === undefined) return undefined;
  const { object, error } = decode(podTemplateSpec, template);
  if (error !== undefined) return undefined;
  return {
    revision: revision.metadata.name ?? '',
    template: defaultPodTemplate(object as PodTemplateSpec),
  };
}

/** The earliest beyond the limit, except those in use. A negative limit retains all. */
export function expiredRevisions(
  { spec }: StatefulSet,
  revisions: readonly ControllerRevision[],
  inUse: {
    readonly pods: readonly Pod[];
    readonly current: ControllerRevision;
    readonly update: ControllerRevision;
  },
): readonly ControllerRevision[] {
  const { pods, current, update } = inUse;
  const live = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)]);
  const history = revisions.filter(({ metadata }) => !live.has(metadata.name)).sort(byRevision);
  const limit = spec.revisionHistoryLimit ?? 0;
  return limit < 0 ? [] : history.slice(0, Math.max(0, history.length - limit));
}
