// Values made of objects, kept for as long as those stay as they are.
import type { ObjectReader } from '../cache/object-reader.ts';

/** A value that is built again only after one of the resources has changed. */
export function keepCurrent<T>(
  reader: ObjectReader,
  resources: readonly string[],
  build: () => T,
): () => T {
  let kept: { readonly revisions: readonly number[]; readonly value: T } | undefined;
  return () => {
    if (
      kept?.revisions.every((revision, at) => revision === reader.revision(resources[at] as string))
    ) {
      return kept.value;
    }
    // Read before building, so that a change in between is noticed next time.
    const revisions = resources.map((resource) => reader.revision(resource));
    kept = { revisions, value: build() };
    return kept.value;
  };
}
