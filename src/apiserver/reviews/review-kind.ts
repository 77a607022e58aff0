// Kinds that answer a question and store nothing: a POST gets the object back with its status filled in.
import { badRequest } from '../../meta/api-error.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import type { StructNode } from '../../schema/node.ts';
import type { Authenticator } from '../access/authenticate.ts';
import type { Authorizer } from '../access/authorize.ts';
import type { User } from '../access/user.ts';

export type ReviewContext = {
  readonly user: User;
  readonly authorizer: Authorizer;
  readonly authenticator: Authenticator;
  /** Of the request; empty for cluster-wide kinds. */
  readonly namespace: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
};

export type ReviewKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly schema: StructNode;
  /** The body, decoded by the schema, to the answer. Throws ApiError. */
  readonly create: (object: KubeObject, context: ReviewContext) => KubeObject;
};

/** The metadata of a body without what the server generates; the namespace is the request's. */
export function reviewMetadata(metadata: ObjectMeta, namespace: string): ObjectMeta {
  const {
    uid: _uid,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _grace,
    selfLink: _selfLink,
    managedFields: _managedFields,
    namespace: bodyNamespace,
    ...kept
  } = metadata;
  if (namespace === '') return kept;
  if (bodyNamespace !== undefined && bodyNamespace !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return { ...kept, namespace };
}
