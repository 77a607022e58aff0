// What the server is made of, as the verbs see it. Built once by start.ts.
import type { Store } from '../storage/store.ts';
import type { Authorizer } from './access/authorize.ts';
import type { User } from './access/user.ts';
import type { Admission, AdmissionSteps } from './admission/admission.ts';
import type { Resources } from './cache/resources.ts';
import type { NodeCredentials } from './certificates/node-credentials.ts';
import type { ClusterAddresses } from './kubernetes-service/cluster-addresses.ts';
import type { Pace } from './limits/pace.ts';
import type { StreamCount } from './limits/stream-count.ts';
import type { Reserve } from './objects/reservation.ts';
import type { Dial } from './proxy/forward.ts';
import type { TokenIssuer } from './tokens/service-account-tokens.ts';

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
  /**
   * Throws ApiError when the write may not be, whatever the object itself says: for a reason of admission, or
   * because it would hand out rights that the user does not have.
   */
  readonly admission: Admission;
  /** Makes tokens of service accounts. */
  readonly tokens: TokenIssuer;
  /** Opens connections to pods, and refuses addresses that no pod has. */
  readonly dial: Dial;
  /** Opens connections to nodes, and refuses addresses that no node has. */
  readonly dialNode: Dial;
  /** For requests that need more rights than their verb says. */
  readonly authorizer: Authorizer;
  /** Connections of each user that lead to nodes. */
  readonly tunnels: StreamCount;
  /** What belongs to the cluster itself. */
  readonly addresses: ClusterAddresses;
  /** By which agents of nodes know this server. */
  readonly nodeCredentials: () => NodeCredentials;
};

/** Who writes, how, and under which name; the same for every attempt of one request. */
export type WriteRequest = {
  readonly user: User;
  readonly dryRun: boolean;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly admission: AdmissionSteps;
  /** Warning headers are collected here. */
  readonly warn: (text: string) => void;
  /** Of a request from outside: between its steps others may go first. */
  readonly pace?: Pace;
};
