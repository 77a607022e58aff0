// What the server is made of, as the verbs see it. Built once by start.ts.
import type { AnyKind } from '../kinds/definition.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Store } from '../storage/store.ts';
import type { Reserve } from './reservation.ts';
import type { Resources } from './resources.ts';
import type { User } from './user.ts';

export type ApiContext = {
  readonly store: Store;
  readonly resources: Resources;
  /** By resource name: what must be written together with objects of it. */
  readonly reserve: ReadonlyMap<string, Reserve>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newUid: () => string;
  /** Letters and digits for generated names. */
  readonly randomSuffix: () => string;
  /** Throws ApiError 403 when the write would hand out rights that the user does not have. */
  readonly checkAccessGrant: (user: User, grant: AccessGrant) => void;
};

export type AccessGrant = {
  readonly definition: AnyKind;
  readonly before?: KubeObject;
  readonly after: KubeObject;
  readonly namespace: string;
};

/** Who writes, how, and under which name; the same for every attempt of one request. */
export type WriteRequest = {
  readonly user: User;
  readonly dryRun: boolean;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Warning headers are collected here. */
  readonly warn: (text: string) => void;
};
