// What the chain's handlers need.
import type { Cidr } from '../ip/cidr.ts';
import type { ClusterOptions } from './cluster/answer.ts';
import type { Validity, Zone } from './cluster/zone.ts';
import type { UpstreamCache } from './handlers/upstream-cache.ts';
import type { Found, Handler, Question } from './question.ts';
import type { Answer } from './wire/answer.ts';
import type { WireName } from './wire/names.ts';

/** Resolves names outside of the cluster. */
export type Upstream = {
  readonly answer: (question: Question) => Promise<Found>;
  /** Refreshes a cached answer in the background before it expires. */
  readonly refresh: (question: Question) => void;
};

export type AutopathOptions = {
  readonly domain: WireName;
  /** The search domains of the host, which its pods inherit. */
  readonly hostSearch: readonly WireName[];
};

export type ChainParts = {
  readonly zone: Zone;
  readonly cluster: ClusterOptions;
  /** Whether the informers have synced. */
  readonly isSynced: () => boolean;
  /** The SOA serial: when names last changed, in seconds. */
  readonly serial: () => number;
  /** Caches an answer that is valid until its Service changes. */
  readonly cacheResponse: (question: Question, answer: Answer, validity: Validity) => void;
  readonly autopath?: AutopathOptions;
  /** Clients that may resolve names outside of the cluster; absent: all. */
  readonly allow?: readonly Cidr[];
  readonly loop: Handler;
  readonly cache: UpstreamCache;
  readonly upstream: Upstream;
  /** Milliseconds. */
  readonly now: () => number;
};
