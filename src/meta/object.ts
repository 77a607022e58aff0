// Metadata that all objects share, and their keys.
import * as s from '../schema/node.ts';

const ownerReference = s.struct(
  'OwnerReference',
  {
    apiVersion: s.required(s.always(s.string('API group and version of the owner.'))),
    kind: s.required(s.always(s.string('Kind of the owner.'))),
    name: s.required(s.always(s.string('Name of the owner.'))),
    uid: s.required(
      s.always(s.string('UID of the owner; another object of the same name is not it.')),
    ),
    controller: s.pointer(s.boolean('True for the one owner that manages this object.')),
    blockOwnerDeletion: s.pointer(
      s.boolean('A foreground deletion of the owner waits until this object is deleted.'),
    ),
  },
  { mapType: 'atomic', numbers: [5, 1, 3, 4, 6, 7] },
);
export type OwnerReference = s.Static<typeof ownerReference>;

const managedFieldsEntry = s.struct(
  'ManagedFieldsEntry',
  {
    manager: s.string('Who set the fields.'),
    operation: s.string('How they were set: Apply or Update.'),
    apiVersion: s.string('Version of the object in which the fields are named.'),
    time: s.pointer(s.time('When the entry last changed.')),
    fieldsType: s.string('Form of the field list; FieldsV1 is the only one.'),
    fieldsV1: s.pointer(s.any('The fields, as a tree.')),
    subresource: s.string('The subresource through which they were set, if any.'),
  },
  { numbers: [1, 2, 3, 4, 6, 7, 8] },
);
export type ManagedFieldsEntry = s.Static<typeof managedFieldsEntry>;

export const objectMeta = s.struct(
  'ObjectMeta',
  {
    name: s.string('Name, unique among objects of this resource in its namespace.'),
    generateName: s.string('Prefix from which the server makes a name when the name is empty.'),
    namespace: s.string('Namespace in which the name is unique; empty for cluster-wide resources.'),
    selfLink: s.string('No longer set.'),
    uid: s.string('Identity of this object in time and space, set by the server.'),
    resourceVersion: s.string('Version of this object; changes with every write.'),
    generation: s.int64('Counts the changes of the wanted state.'),
    creationTimestamp: s.pointer(s.time('When the server stored the object.')),
    deletionTimestamp: s.pointer(
      s.time('When the object is to be deleted; set by a deletion that has to wait.'),
    ),
    deletionGracePeriodSeconds: s.pointer(s.int64('Seconds granted for an orderly end.')),
    labels: s.map(s.string(), 'Keys and values to select objects by.'),
    annotations: s.map(s.string(), 'Free keys and values for tools and people.'),
    ownerReferences: s.list(ownerReference, 'Objects on which this one depends.', {
      listType: 'map',
      keys: ['uid'],
      mergeKey: 'uid',
      patchStrategy: 'merge',
    }),
    finalizers: s.list(s.string(), 'The object stays until this list is empty.', {
      listType: 'set',
      patchStrategy: 'merge',
    }),
    managedFields: s.list(managedFieldsEntry, 'Which manager set which field.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17] },
);
export type ObjectMeta = s.Static<typeof objectMeta>;

/** Any object. Kinds have types of their own. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** The first three fields of every kind's schema, in the order in which they are written. */
export const objectFields = {
  kind: s.string('What this object is.'),
  apiVersion: s.string('Group and version of the schema it is written in.'),
  metadata: s.described(objectMeta, 'Name, labels and what else all objects have.'),
} as const;

/** The object with other metadata. Object.assign, because a spread takes several times as long for objects of varying shape. */
export function withMetadata<T extends KubeObject>(object: T, metadata: ObjectMeta): T {
  return Object.assign({}, object, { metadata });
}

/** `namespace/name`, or `name` for cluster-scoped objects: for logs and work queues. */
export function objectKey(metadata: ObjectMeta): string {
  return metadata.namespace
    ? `${metadata.namespace}/${metadata.name ?? ''}`
    : (metadata.name ?? '');
}

export function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `services`, `endpointslices.discovery.k8s.io`: for messages and storage keys. */
export function groupResource(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}
