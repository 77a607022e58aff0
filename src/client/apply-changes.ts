// Carries out a diff of objects: creates, updates and deletes, a few at a time.
import { isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { WriteNotes } from './expectations.ts';
import type { ResourceClient } from './rest.ts';

export type ObjectChanges<T> = {
  readonly create: readonly T[];
  readonly update: readonly T[];
  readonly delete: readonly T[];
};

export type ApplyChangesOptions<T extends KubeObject> = {
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Told what was done, with the server's answer. */
  readonly notes?: WriteNotes<T>;
};

const defaultConcurrency = 8;

/**
 * Creates first, so that what is replaced has its successor before it goes. Of several failures the first is thrown,
 * after everything has been tried. What is already gone counts as deleted; only the very object that was meant is.
 */
export async function applyChanges<T extends KubeObject>(
  client: ResourceClient<T>,
  changes: ObjectChanges<T>,
  { concurrency = defaultConcurrency, signal, notes }: ApplyChangesOptions<T> = {},
): Promise<void> {
  const until = signal === undefined ? {} : { signal };
  const wrote = (object: T): void => notes?.wrote(object);
  const steps = [
    changes.create.map((object) => async () => wrote(await client.create(object, until))),
    changes.update.map((object) => async () => wrote(await client.update(object, until))),
    changes.delete.map((object) => async () => {
      await remove(client, object, until);
      notes?.deleted(object);
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

/** Runs all, at most so many at a time, and returns what failed. */
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
