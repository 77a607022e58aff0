// The contract of a kind. The API server knows kinds only through it: a new kind is a folder with a definition and a
// line in all.ts.
import type { FieldError } from '../meta/field-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { StructNode } from '../schema/node.ts';

/** What validation and preparation may know of the request besides the objects. */
export type WriteContext = {
  /** The time of the request, RFC 3339 in whole seconds. */
  readonly now: string;
  /** The user who makes the request; absent where no rule depends on it. */
  readonly user?: {
    readonly name: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
};

export type DeleteRequest = {
  /** Absent when the client gave none. Negative values are replaced by 1. */
  readonly gracePeriodSeconds?: number;
};

/** How writes of the object or of a subresource are prepared and validated. All functions are pure. */
export type UpdateRules<T extends KubeObject> = {
  /** Restores fields the server owns and clears fields the client may not set. Common metadata is already done. */
  readonly prepareUpdate?: (before: T, after: T, context: WriteContext) => T;
  /** Errors of the new object and of the change. Common metadata is validated by the server. */
  readonly validateUpdate: (before: T, after: T) => readonly FieldError[];
  readonly warnOnUpdate?: (before: T, after: T) => readonly string[];
  /**
   * Paths that prepareUpdate() (and for the object itself prepareCreate()) sets whatever was sent, so that no manager owns
   * them through this path (GetResetFields upstream). Absent: the status, or for `status` the spec.
   */
  readonly resetFields?: readonly (readonly string[])[];
};

export type CreateRules<T extends KubeObject> = {
  readonly prepareCreate?: (object: T, context: WriteContext) => T;
  readonly validateCreate: (object: T) => readonly FieldError[];
  readonly warnOnCreate?: (object: T) => readonly string[];
};

/** A name rule returns Kubernetes' messages; `prefix` is true for generateName. */
export type NameRule = (name: string, prefix: boolean) => readonly string[];

export type Column<T extends KubeObject> = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number;
  /** The cell. `now` in milliseconds, for ages. */
  readonly cell: (object: T, now: number) => string | number | boolean | null;
};

/** What identifies the object of a row of a Table. */
export type RowCondition = {
  readonly type: 'Completed';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
};

export type Verb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

export type SubresourceDefinition<T extends KubeObject> = {
  /** `status`, `scale`, `binding`, ... */
  readonly name: string;
  /** The kind of the bodies at this path; absent: the parent's own. */
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** Present where a write of the subresource updates the object under rules of its own (status, finalize). */
  readonly rules?: UpdateRules<T>;
};

/** Facts that are the same for all objects of a cluster. */
export type ClusterFacts = {
  /** Families of the Service ranges, the default first. */
  readonly families: readonly ('IPv4' | 'IPv6')[];
};

/** Completes objects that an earlier version stored; the next write stores the result. */
export type StoredCompletion<T extends KubeObject> = {
  /** The name of a member that every complete object contains; stored text that contains it is not parsed. */
  readonly member: string;
  /** Pure; returns the same object when nothing is missing. */
  readonly complete: (stored: T, cluster: ClusterFacts) => T;
};

export type KindDefinition<T extends KubeObject = KubeObject> = {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** Absent: all eight verbs. */
  readonly verbs?: readonly Verb[];
  /** The resource that stores the objects, when it is not this one (events.k8s.io serves core Events). */
  readonly storedAs?: {
    readonly plural: string;
    readonly group: string;
    /** Stored form to this kind's form and back; pure. */
    readonly fromStored: (stored: KubeObject) => T;
    readonly toStored: (object: T) => KubeObject;
  };
  /** A deprecation warning, sent with every response of this resource. */
  readonly deprecationWarning?: string;
  readonly schema: StructNode;
  readonly nameRule: NameRule;
  /** Tokens and reviews: a generateName is used unchanged as the name. */
  readonly generatesNoLetters?: boolean;
  /** Sets defaults. Runs on every decoded body and on the result of every patch. */
  readonly defaults?: (object: T) => T;
  readonly storedCompletion?: StoredCompletion<T>;
  readonly create: CreateRules<T>;
  readonly update: UpdateRules<T>;
  /** PUT to a missing name creates it. */
  readonly createsOnUpdate?: boolean;
  /** PUT without a resourceVersion is refused. */
  readonly needsResourceVersion?: boolean;
  /**
   * Whether a change increments metadata.generation; absent: the kind has no generation. It starts at 1; called after
   * preparation and before validation.
   */
  readonly generationChanges?: (before: T, after: T) => boolean;
  /** Grace period of a graceful deletion in seconds; absent: deletions are immediate. */
  readonly graceSeconds?: (object: T, request: DeleteRequest) => number;
  /** Changes of the object when its deletion has to wait, besides deletionTimestamp and deletionGracePeriodSeconds. */
  readonly markDeleting?: (object: T) => T;
  /**
   * Whether something other than metadata.finalizers blocks the deletion. Objects of such kinds always stay for the
   * first delete request.
   */
  readonly holdsDeletion?: (object: T) => boolean;
  /** A delete without a policy orphans the dependents, with this warning; absent: the garbage collector deletes them. */
  readonly orphansByDefault?: { readonly warning: string };
  /** Delete responds with the object instead of a Status. */
  readonly deleteAnswersObject?: boolean;
  /** Objects of this kind expire after this time (Events). */
  readonly ttlSeconds?: number;
  readonly subresources?: readonly SubresourceDefinition<T>[];
  readonly columns: readonly Column<T>[];
  /** Absent: the kind has no such columns. */
  readonly rowConditions?: (object: T) => readonly RowCondition[];
  /** Field label → value, beyond metadata.name and metadata.namespace. */
  readonly fieldSelectors?: Readonly<Record<string, (object: T) => string>>;
  /** Which of the messages an unsupported field selector gets; `known` lists the supported labels, `kind` names the kind. */
  readonly fieldSelectorError?: 'label' | 'known' | 'kind';
};

/** Any kind, where the object type does not matter. The type parameter is both read and written, so it is erased here. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where kinds of different types meet
export type AnyKind = KindDefinition<any>;

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
