// What differs between two lists of objects: an object that is the same in memory has not changed.
import { type KubeObject, objectKey } from '../meta/object.ts';

export type ObjectChange<T> = { readonly before?: T; readonly after?: T };

export function changedObjects<T extends KubeObject>(
  before: readonly T[],
  after: readonly T[],
): readonly ObjectChange<T>[] {
  if (before === after) return [];
  // Most objects are the same: keys are made for the others only.
  const [was, is] = [new Set(before), new Set(after)];
  const remaining = new Map(
    before.flatMap((object) => (is.has(object) ? [] : [[objectKey(object.metadata), object]])),
  );
  const changes: ObjectChange<T>[] = [];
  for (const object of after) {
    if (was.has(object)) continue;
    const key = objectKey(object.metadata);
    const previous = remaining.get(key);
    remaining.delete(key);
    changes.push(previous === undefined ? { after: object } : { before: previous, after: object });
  }
  for (const object of remaining.values()) changes.push({ before: object });
  return changes;
}

/** The objects as they were and as they are. */
export function bothSides<T>(changes: readonly ObjectChange<T>[]): readonly T[] {
  return changes.flatMap(({ before, after }) => [before, after].filter((one) => one !== undefined));
}
