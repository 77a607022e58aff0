import type { ObjectReference } from '../object-reference.ts';

/** Field selectors for the fields of a reference, under the API group's name for it. */
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
