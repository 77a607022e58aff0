// What a kind must say of itself. The API server knows nothing else about kinds: to add one, write a folder
// with a definition and add a line to all.ts.
import type { FieldError } from '../meta/field-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { StructNode } from '../schema/node.ts';

/** What a rule may know about the request besides the objects. */
export type WriteContext = {
  /** The time of the request, RFC 3339 in whole seconds. */
  readonly now: string;
  /** Who writes; absent where nobody asks for it. */
  readonly user?: {
    readonly name: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
};

export type DeleteRequest = {
  /** Absent when the client did not say. Negative values have been made 1. */
  readonly gracePeriodSeconds?: number;
};

/** How main-resource or subresource writes are prepared and judged. All functions are pure. */
export type UpdateRules<T extends KubeObject> = {
  /** What the server keeps from before and clears from after. Metadata that all kinds share is already done. */
  readonly prepareUpdate?: (before: T, after: T, context: WriteContext) => T;
  /** Errors of the new state and of the change. Metadata that all kinds share is judged by the server. */
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

/** A name rule returns what is wrong with a name, in Kubernetes' words; `prefix` is true for generateName. */
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

/** What a row of a Table says besides its cells, so that clients can tell rows apart without reading them. */
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
  /** The kind spoken at this path; absent: the parent's own. */
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** Present where writing the subresource updates the object under rules of its own (status, finalize). */
  readonly rules?: UpdateRules<T>;
};

/** What is the same for all objects of a cluster. */
export type ClusterFacts = {
  /** Families that services get addresses of, the default first. */
  readonly families: readonly ('IPv4' | 'IPv6')[];
};

/** Objects that an earlier version stored are served as if this one had; the next write stores them so. */
export type StoredCompletion<T extends KubeObject> = {
  /** A member, somewhere in the object, that only complete ones have: those are not even parsed. */
  readonly member: string;
  /** Pure; the same object where nothing is missing. */
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
  /** Absent: all eight. */
  readonly verbs?: readonly Verb[];
  /** The resource whose stored objects these are, when it is not this one (events.k8s.io shows core Events). */
  readonly storedAs?: {
    readonly plural: string;
    readonly group: string;
    /** Stored form to this kind's form and back; pure. */
    readonly fromStored: (stored: KubeObject) => T;
    readonly toStored: (object: T) => KubeObject;
  };
  /** Told in a Warning header with every answer of this resource, reads included. */
  readonly deprecationWarning?: string;
  readonly schema: StructNode;
  readonly nameRule: NameRule;
  /** A generateName is the whole name: letters after it would make no sense. */
  readonly generatesNoLetters?: boolean;
  /** Fills in what the client left out. Runs on every decoded body and on the result of every patch. */
  readonly defaults?: (object: T) => T;
  readonly storedCompletion?: StoredCompletion<T>;
  readonly create: CreateRules<T>;
  readonly update: UpdateRules<T>;
  /** PUT to a missing name creates it. */
  readonly createsOnUpdate?: boolean;
  /** PUT without a resourceVersion is refused. */
  readonly needsResourceVersion?: boolean;
  /**
   * Whether metadata.generation grows with this change; absent: the kind has no generation.
   * It starts at 1, and is asked after preparation, before validation.
   */
  readonly generationChanges?: (before: T, after: T) => boolean;
  /** Seconds between the mark and the end of a graceful deletion; absent: deletes are immediate. */
  readonly graceSeconds?: (object: T, wish: DeleteRequest) => number;
  /** What a delete that has to wait does to the object besides the marks in its metadata. */
  readonly markDeleting?: (object: T) => T;
  /** Whether something other than metadata.finalizers still keeps a deleted object. Kinds that have it stay for their first delete. */
  readonly holdsDeletion?: (object: T) => boolean;
  /** Delete answers with the object instead of a Status. */
  readonly deleteAnswersObject?: boolean;
  /** Objects of this kind go by themselves after this time (Events). */
  readonly ttlSeconds?: number;
  readonly subresources?: readonly SubresourceDefinition<T>[];
  readonly columns: readonly Column<T>[];
  /** Absent: rows of this kind have none. */
  readonly rowConditions?: (object: T) => readonly RowCondition[];
  /** Field label → value, beyond metadata.name and metadata.namespace. */
  readonly fieldSelectors?: Readonly<Record<string, (object: T) => string>>;
  /** Which of the two texts an unsupported field selector gets; `known` lists the labels it does know. */
  readonly fieldSelectorError?: 'label' | 'known';
};

/** Any kind, where its object type does not matter. The parameter is used in both directions, so it is erased here. */
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
