// Caches a value that is computed from objects.
import type { ObjectReader } from '../cache/object-reader.ts';

/** The value is built again only after one of the resources has changed. */
export function cacheByRevision<T>(
  reader: ObjectReader,
  resources: readonly string[],
  build: () => T,
): () => T {
  let cached: { readonly revisions: readonly number[]; readonly value: T } | undefined;
  return () => {
    if (
      cached?.revisions.every(
        (revision, at) => revision === reader.revision(resources[at] as string),
      )
    ) {
      return cached.value;
    }
    // Read before building, so that a change in between is detected by the next call.
    const revisions = resources.map((resource) => reader.revision(resource));
    cached = { revisions, value: build() };
    return cached.value;
  };
}
