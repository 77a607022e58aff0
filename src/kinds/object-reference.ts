// References to other objects, as several kinds of the core group carry them.
import * as s from '../schema/node.ts';

export const objectReference = s.struct(
  'ObjectReference',
  {
    kind: s.string('Kind of the object meant.'),
    namespace: s.string('Namespace of the object meant.'),
    name: s.string('Name of the object meant.'),
    uid: s.string('UID of the object meant.', { goType: 'types.UID' }),
    apiVersion: s.string('Group and version in which the object is known.'),
    resourceVersion: s.string('The version of the object that is meant, if only that one.'),
    fieldPath: s.string('The part of the object that is meant, such as one container of a pod.'),
  },
  { mapType: 'atomic', numbers: [1, 2, 3, 4, 5, 6, 7] },
);
export type ObjectReference = s.Static<typeof objectReference>;

export const localObjectReference = s.struct(
  'LocalObjectReference',
  { name: s.string('Name of an object in the same namespace.', { default: '' }) },
  { mapType: 'atomic', numbers: [1] },
);
export type LocalObjectReference = s.Static<typeof localObjectReference>;

/** The reference as error messages name it. */
export function referenceInGoSpelling(reference: ObjectReference): Record<string, string> {
  return {
    Kind: reference.kind ?? '',
    Namespace: reference.namespace ?? '',
    Name: reference.name ?? '',
    UID: reference.uid ?? '',
    APIVersion: reference.apiVersion ?? '',
    ResourceVersion: reference.resourceVersion ?? '',
    FieldPath: reference.fieldPath ?? '',
  };
}
