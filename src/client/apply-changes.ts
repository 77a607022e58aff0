// Applies a diff of objects: creates, updates and deletes, with limited concurrency.
import { isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { WriteRecorder } from './expectations.ts';
import type { ResourceClient } from './rest.ts';

export type ObjectChanges<T> = {
  readonly create: readonly T[];
  readonly update: readonly T[];
  readonly delete: readonly T[];
};

export type ApplyChangesOptions<T extends KubeObject> = {
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Called after each write, with the server's response. */
  readonly recorder?: WriteRecorder<T>;
};

const defaultConcurrency = 8;

/**
 * Creates come first, so that a replacement exists before its predecessor is deleted. All changes are tried; then the
 * first failure is thrown. An object that no longer exists counts as deleted; the uid precondition protects a successor of the same name.
 */
export async function applyChanges<T extends KubeObject>(
  client: ResourceClient<T>,
  changes: ObjectChanges<T>,
  { concurrency = defaultConcurrency, signal, recorder }: ApplyChangesOptions<T> = {},
): Promise<void> {
  const until = signal === undefined ? {} : { signal };
  const wrote = (object: T): void => recorder?.wrote(object);
  const steps = [
    changes.create.map((object) => async () => wrote(await client.create(object, until))),
    changes.update.map((object) => async () => wrote(await client.update(object, until))),
    changes.delete.map((object) => async () => {
      await remove(client, object, until);
      recorder?.deleted(object);
    }),
  ];
  const failures: unknown[] = [];
  for (const step of steps) failures.push(...(await runAll(step, concurrency)));
  if (failures.length > 0) throw failures[0];
}

async function remove<T extends KubeObject>(
  client: ResourceClient<T>,
  { metadata }: T,
  until: { readonly signal?: AbortSignal },
): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  try {
    await client.delete(
      { name, ...(namespace === undefined ? {} : { namespace }) },
      { ...(uid === undefined ? {} : { preconditions: { uid } }), ...until },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Runs all tasks, at most `concurrency` at a time, and returns the failures. */
async function runAll(
  tasks: readonly (() => Promise<unknown>)[],
  concurrency: number,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const rest = tasks.values();
  const worker = async (): Promise<void> => {
    for (const task of rest) {
      await task().catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
  return failures;
}
