// The parts of the server that verbs use. Built once by create-context.ts.
import type { Store } from '../storage/store.ts';
import type { Authorizer } from './access/authorize.ts';
import type { User } from './access/user.ts';
import type { Admission, AdmissionSteps } from './admission/admission.ts';
import type { Resources } from './cache/resources.ts';
import type { NodeCredentials } from './certificates/node-credentials.ts';
import type { History } from './history/start-history.ts';
import type { ClusterAddresses } from './kubernetes-service/cluster-addresses.ts';
import type { Pace } from './limits/pace.ts';
import type { StreamCount } from './limits/stream-count.ts';
import type { Reserve } from './objects/reservation.ts';
import type { PartsChannel } from './parts/channel.ts';
import type { Peers } from './parts/peers.ts';
import type { SharedQuestions } from './parts/shared-questions.ts';
import type { Dial } from './proxy/forward.ts';
import type { Quotas } from './quota/charge.ts';
import type { TokenIssuer } from './tokens/service-account-tokens.ts';

export type ApiContext = {
  readonly store: Store;
  readonly resources: Resources;
  /** By resource name: what must be written in the same transaction as its objects. */
  readonly reserve: ReadonlyMap<string, Reserve>;
  /** What quotas allow, and what is charged to them. */
  readonly quotas: Quotas;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newUid: () => string;
  /** Letters and digits for generated names. */
  readonly randomSuffix: () => string;
  /**
   * Throws ApiError when a write is refused although the object is valid: by an admission plugin, or
   * because it would grant rights that the user does not have.
   */
  readonly admission: Admission;
  /** Issues service account tokens. */
  readonly tokens: TokenIssuer;
  /** Opens connections to pods, and refuses addresses that no pod has. */
  readonly dial: Dial;
  /** Opens connections to nodes, and refuses addresses that no node has. */
  readonly dialNode: Dial;
  /** For requests that need more rights than their verb says. */
  readonly authorizer: Authorizer;
  /** Upgraded connections to nodes, by user. */
  readonly tunnels: StreamCount;
  /** Addresses of the cluster itself. */
  readonly addresses: ClusterAddresses;
  /** Questions to the parts that are connected to this server. */
  readonly partsChannel: PartsChannel;
  /** And to those of the other servers of the cluster. */
  readonly peers: Peers;
  /** Those about traffic, which take seconds: the encoded lists. */
  readonly trafficQuestions: SharedQuestions<Buffer>;
  /** Authenticate this server to agents of nodes. */
  readonly nodeCredentials: () => NodeCredentials;
  /** Earlier versions of objects; absent where none are kept. Set when the server has started. */
  history?: History;
};

/** User, field manager and options of a write; the same for every attempt of one request. */
export type WriteRequest = {
  readonly user: User;
  readonly dryRun: boolean;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly admission: AdmissionSteps;
  /** Warning headers are collected here. */
  readonly warn: (text: string) => void;
  /** Of requests of clients: yields to other requests between steps. */
  readonly pace?: Pace;
};
