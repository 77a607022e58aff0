// References to objects, and markers for fields that Go always writes.
import * as s from '../../schema/node.ts';

/** A required field that is written even when empty. */
export function must<S extends s.Schema>(schema: S) {
  return s.required(s.always(schema));
}

/** A time that is written as null when unset. */
export function timeOrNull(description: string) {
  return s.always(s.time(description)) as s.ScalarNode & {
    readonly presence: 'always';
    readonly __type?: string | null;
  };
}

export const typedLocalObjectReference = s.struct(
  'TypedLocalObjectReference',
  {
    apiGroup: s.pointer(s.string('Group of the object; absent or empty for the core group.')),
    kind: must(s.string('Kind of the object.')),
    name: must(s.string('Name of the object.')),
  },
  { mapType: 'atomic', numbers: [1, 2, 3] },
);
export type TypedLocalObjectReference = s.Static<typeof typedLocalObjectReference>;

export const typedObjectReference = s.struct(
  'TypedObjectReference',
  {
    apiGroup: s.pointer(s.string('Group of the object; absent or empty for the core group.')),
    kind: must(s.string('Kind of the object.')),
    name: must(s.string('Name of the object.')),
    namespace: s.pointer(s.string('Namespace of the object, when it is another one.')),
  },
  { numbers: [1, 2, 3, 4] },
);
