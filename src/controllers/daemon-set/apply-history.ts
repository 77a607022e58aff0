// Brings the revisions of a daemon set in order: one of the current template, numbered higher than all others.
import {
  createRevision,
  deleteRevision,
  type RevisionTask,
  updateRevision,
} from '../../client/apply-revisions.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { hasTemplate } from '../../kinds/controller-revision/history.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { revisionLabel } from '../../meta/well-known-labels.ts';
import { expiredRevisions, type History, hashOf, newRevision, readHistory } from './history.ts';

export type HistoryTask = RevisionTask & {
  readonly set: DaemonSet;
  readonly sets: ResourceClient<DaemonSet>;
  readonly pods: ResourceClient<Pod>;
  readonly recordPod: WriteRecorder<Pod>;
};

/** Returns the revision of the current template. */
export async function applyHistory(
  task: HistoryTask,
  revisions: readonly ControllerRevision[],
  pods: readonly Pod[],
): Promise<{ readonly current: ControllerRevision; readonly history: History }> {
  const { set } = task;
  const labelled: ControllerRevision[] = [];
  for (const revision of revisions) labelled.push(await withLabel(task, revision));
  const history = readHistory(set, labelled);
  const current = await currentOf(task, history);
  for (const duplicate of history.duplicates) await removeDuplicate(task, duplicate, current, pods);
  return { current, history };
}

export async function applyExpiry(
  task: HistoryTask,
  history: History,
  pods: readonly Pod[],
): Promise<void> {
  for (const revision of expiredRevisions(task.set, history, pods)) {
    await deleteRevision(task, revision);
  }
}

async function withLabel(
  task: HistoryTask,
  revision: ControllerRevision,
): Promise<ControllerRevision> {
  const { metadata } = revision;
  if (metadata.labels?.[revisionLabel] !== undefined) return revision;
  const labels = { ...metadata.labels, [revisionLabel]: hashOf(revision) };
  return updateRevision(task, { ...revision, metadata: { ...metadata, labels } });
}

async function currentOf(
  task: HistoryTask,
  { current, number }: History,
): Promise<ControllerRevision> {
  const { set, sets } = task;
  if (current !== undefined) {
    if (current.revision >= number) return current;
    return updateRevision(task, { ...current, revision: number });
  }
  const wanted = newRevision(set, number);
  const created = await createRevision(task, wanted, (existing) =>
    hasTemplate(existing, set.spec.template),
  );
  if (created !== undefined) return created;
  const collisionCount = (set.status.collisionCount ?? 0) + 1;
  await sets.update(
    { ...set, status: { ...set.status, collisionCount } },
    { subresource: 'status' },
  );
  throw new Error(`Found a hash collision for DaemonSet ${set.metadata.name}, retrying`);
}

/** Its pods count as pods of the current revision: they have the same template. */
async function removeDuplicate(
  task: HistoryTask,
  duplicate: ControllerRevision,
  current: ControllerRevision,
  pods: readonly Pod[],
): Promise<void> {
  const labels = { [revisionLabel]: hashOf(current) };
  for (const { metadata } of pods) {
    if (metadata.labels?.[revisionLabel] !== hashOf(duplicate)) continue;
    const { namespace = '', name = '', uid } = metadata;
    const patch = { metadata: { uid, labels } };
    task.recordPod.wrote(await task.pods.patch({ namespace, name }, patch, { type: 'strategic' }));
  }
  await deleteRevision(task, duplicate);
}
