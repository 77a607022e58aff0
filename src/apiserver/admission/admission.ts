// Admission: plugins that check writes in a fixed order, in two phases as upstream: `mutate` sees the request's object
// before validation, `validate` sees the object to be written after it.
import type { AnyKind } from '../../kinds/definition.ts';
import { type ApiError, forbidden } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { User } from '../access/user.ts';
import type { NamespaceIndex } from '../cache/follow-namespaces.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { ClusterAddresses } from '../kubernetes-service/cluster-addresses.ts';
import type { Quotas } from '../quota/charge.ts';
import type { PodSecurityConfiguration } from './pod-security/configuration.ts';

export type AdmissionRequest = {
  readonly user: User;
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: AnyKind;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-wide kinds. */
  readonly namespace: string;
  /** Of the path or of the object; empty when the server will generate it. */
  readonly name: string;
  /** The name in the path; a POST to a collection has none. */
  readonly pathName?: string;
  readonly before?: KubeObject | undefined;
  /** The object of the request: for a subresource with a kind of its own, an object of that kind. Absent for deletes. */
  readonly after?: KubeObject;
  readonly dryRun: boolean;
  /** Adds a Warning header to the answer. */
  readonly warn: (text: string) => void;
  /** Adds an annotation to the audit event of the request. */
  readonly annotate: (key: string, value: string) => void;
};

/** What plugins use besides the request. */
export type AdmissionFacts = {
  readonly reader: ObjectReader;
  readonly randomSuffix: () => string;
  readonly podSecurity: PodSecurityConfiguration;
  /** Resolves when the object exists, or after the timeout. */
  readonly waitFor: (object: WaitedObject) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Yields to the event loop. */
  readonly pause: () => Promise<void>;
  /** Of API servers and Services. */
  readonly addresses: ClusterAddresses;
  readonly limitRangesOf: NamespaceIndex;
  readonly quotas: Pick<Quotas, 'refusal'>;
};

export type WaitedObject = {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly timeoutMs: number;
};

export type AdmissionPlugin = {
  /** In flags. */
  readonly name: string;
  readonly onByDefault: boolean;
  /** What a create waits for before `mutate`, for a bounded time; undefined: nothing. */
  readonly ready?: (request: WriteAdmission, facts: AdmissionFacts) => Promise<void> | undefined;
  /** Throws ApiError to refuse; returns the object when it changes it. */
  readonly mutate?: (request: AdmissionRequest, facts: AdmissionFacts) => KubeObject | undefined;
  /** Throws ApiError to refuse. Not called for deletes. */
  readonly validate?: (request: WriteAdmission, facts: AdmissionFacts) => Promise<void> | undefined;
};

export type WriteAdmission = AdmissionRequest & {
  readonly operation: 'create' | 'update';
  readonly after: KubeObject;
};
export type DeleteAdmission = AdmissionRequest & { readonly operation: 'delete' };

export type Admission = {
  readonly ready: (request: WriteAdmission) => Promise<void> | undefined;
  /** The object after all plugins, each of which gets the result of the previous one. Throws ApiError. */
  readonly mutate: (request: WriteAdmission) => KubeObject;
  /** A promise only where a plugin is asynchronous. */
  readonly validate: (request: WriteAdmission) => Promise<void> | undefined;
  readonly admitDelete: (request: DeleteAdmission) => void;
  /** Whether quotas are enforced; their use is counted in any case. */
  readonly enforcesQuotas: boolean;
};

/**
 * Admission of one write, as the write path calls it. Every function that creates or changes an object requires one, so
 * that no new code can skip admission by accident.
 */
export type AdmissionSteps = {
  /** Whether the write is refused where it exceeds a quota. */
  readonly enforcesQuotas: boolean;
  /** What a create waits for before it goes on. */
  readonly ready: (after: KubeObject) => Promise<void> | undefined;
  /** `before` is absent when the write creates. */
  readonly mutate: (before: KubeObject | undefined, after: KubeObject) => KubeObject;
  readonly validate: (
    before: KubeObject | undefined,
    after: KubeObject,
  ) => Promise<void> | undefined;
};

/** For the server's own objects: plugins check only requests of clients. */
export const ownAdmission: AdmissionSteps = {
  enforcesQuotas: false,
  ready: () => undefined,
  mutate: (_before, after) => after,
  validate: () => undefined,
};

/** For a write that implements a request whose object (Binding, Eviction) was admitted already. */
export const alreadyAdmitted: AdmissionSteps = ownAdmission;

export function createAdmission(
  plugins: readonly AdmissionPlugin[],
  facts: AdmissionFacts,
): Admission {
  return {
    ready(request) {
      let waits: Promise<void>[] | undefined;
      for (const { ready } of plugins) {
        const waiting = ready?.(request, facts);
        if (waiting === undefined) continue;
        waits ??= [];
        waits.push(waiting);
      }
      return waits && Promise.all(waits).then(() => {});
    },
    mutate(request) {
      let current = request;
      for (const plugin of plugins) {
        const after = plugin.mutate?.(current, facts) ?? current.after;
        // Few plugins change the object, and a copy for each of them would cost more than they do.
        if (after !== current.after) current = { ...current, after };
      }
      return current.after;
    },
    validate(request) {
      let waiting: Promise<void> | undefined;
      for (const { validate } of plugins) {
        if (validate === undefined) continue;
        if (waiting !== undefined) waiting = waiting.then(() => validate(request, facts));
        else waiting = validate(request, facts);
      }
      return waiting;
    },
    enforcesQuotas: plugins.some(({ name }) => name === 'ResourceQuota'),
    admitDelete(request) {
      for (const plugin of plugins) plugin.mutate?.(request, facts);
    },
  };
}

/** The refusal of a plugin, with the name of the object as far as it has one. */
export function refused({ definition, name, after }: AdmissionRequest, why: string): ApiError {
  const { name: given, generateName } = after?.metadata ?? {};
  return forbidden(
    { group: definition.group, resource: definition.plural },
    name || given || generateName || 'Unknown!',
    why,
  );
}

export function isResource({ definition }: AdmissionRequest, group: string, plural: string) {
  return definition.group === group && definition.plural === plural;
}
