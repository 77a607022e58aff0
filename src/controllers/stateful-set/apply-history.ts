// Brings the revisions of a stateful set in order.
import {
  createRevision,
  deleteRevision,
  type RevisionTask,
  updateRevision,
} from '../../client/apply-revisions.ts';
import { hasTemplate } from '../../kinds/controller-revision/history.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { currentRevisionOf, expiredRevisions, newRevision, updateRevisionOf } from './history.ts';

export type HistoryTask = RevisionTask & { readonly set: StatefulSet };

export type Revisions = {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number;
};

/** More collisions than this in one sync are no coincidence; the next sync goes on counting. */
const maxCollisions = 10;

export async function applyHistory(
  task: HistoryTask,
  revisions: readonly ControllerRevision[],
): Promise<Revisions> {
  const { set } = task;
  const before = set.status.collisionCount ?? 0;
  const wanted = updateRevisionOf(set, revisions);
  const made =
    wanted.action === 'create'
      ? await create(task, wanted.number, before)
      : { update: await keep(task, wanted), collisionCount: before };
  return { ...made, current: currentRevisionOf(set, revisions, made.update) };
}

const keep = (
  task: HistoryTask,
  { action, revision }: { readonly action: string; readonly revision: ControllerRevision },
): Promise<ControllerRevision> | ControllerRevision =>
  action === 'renumber' ? updateRevision(task, revision) : revision;

async function create(
  task: HistoryTask,
  number: number,
  collisionCount: number,
): Promise<Pick<Revisions, 'update' | 'collisionCount'>> {
  const { set } = task;
  for (let count = collisionCount; count < collisionCount + maxCollisions; count += 1) {
    const update = await createRevision(task, newRevision(set, number, count), (existing) =>
      hasTemplate(existing, set.spec.template),
    );
    if (update !== undefined) return { update, collisionCount: count };
  }
  throw new Error(
    `The names of ${maxCollisions} revisions of StatefulSet ${set.metadata.name} are in use by others`,
  );
}

export async function applyExpiry(
  task: HistoryTask,
  revisions: readonly ControllerRevision[],
  inUse: Revisions & { readonly pods: readonly Pod[] },
): Promise<void> {
  for (const revision of expiredRevisions(task.set, revisions, inUse)) {
    await deleteRevision(task, revision);
  }
}
