// Writes revisions of workloads. Upstream: realHistory in pkg/controller/history.
import type { ControllerRevision } from '../kinds/controller-revision/types.ts';
import { isAlreadyExists, isNotFound } from '../meta/api-error.ts';
import { controllerOf } from '../meta/owner.ts';
import type { WriteRecorder } from './expectations.ts';
import type { ResourceClient } from './rest.ts';

export type RevisionTask = {
  readonly revisions: ResourceClient<ControllerRevision>;
  readonly recordRevision: WriteRecorder<ControllerRevision>;
};

/** Undefined when the name belongs to a revision of another template or owner: the hash collides. */
export async function createRevision(
  { revisions, recordRevision }: RevisionTask,
  revision: ControllerRevision,
  isSame: (existing: ControllerRevision) => boolean,
): Promise<ControllerRevision | undefined> {
  try {
    const created = await revisions.create(revision);
    recordRevision.wrote(created);
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { namespace = '', name = '' } = revision.metadata;
  const existing = await revisions.get({ namespace, name });
  const owner = controllerOf(existing)?.uid;
  const isOurs = owner !== undefined && owner === controllerOf(revision)?.uid;
  if (!isOurs || !isSame(existing)) return undefined;
  recordRevision.wrote(existing);
  return existing;
}

export async function updateRevision(
  { revisions, recordRevision }: RevisionTask,
  revision: ControllerRevision,
): Promise<ControllerRevision> {
  const updated = await revisions.update(revision);
  recordRevision.wrote(updated);
  return updated;
}

export async function deleteRevision(
  { revisions, recordRevision }: RevisionTask,
  revision: ControllerRevision,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = revision.metadata;
  try {
    await revisions.delete({ namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  recordRevision.deleted(revision);
}
