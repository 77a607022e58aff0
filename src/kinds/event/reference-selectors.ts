import type { ObjectReference } from '../object-reference.ts';

/** Field selectors for all that a reference says, under the name that the API group gives it. */
export function referenceSelectors<T>(
  field: string,
  reference: (event: T) => ObjectReference,
): Record<string, (event: T) => string> {
  const parts = [
    'kind',
    'namespace',
    'name',
    'uid',
    'apiVersion',
    'resourceVersion',
    'fieldPath',
  ] as const;
  return Object.fromEntries(
    parts.map((part) => [`${field}.${part}`, (event: T) => reference(event)[part] ?? '']),
  );
}
