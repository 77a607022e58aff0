// What the chain is made of.
import type { Cidr } from '../ip/cidr.ts';
import type { ClusterOptions } from './cluster/answer.ts';
import type { Validity, Zone } from './cluster/zone.ts';
import type { AnswerCache } from './handlers/answer-cache.ts';
import type { Found, Handler, Question } from './question.ts';
import type { Answer } from './wire/answer.ts';
import type { WireName } from './wire/names.ts';

/** Whoever knows the rest of the world. */
export type Upstream = {
  readonly answer: (question: Question) => Promise<Found>;
  /** Brings a kept answer up to date before it ends, while nobody waits. */
  readonly refresh: (question: Question) => void;
};

export type AutopathOptions = {
  readonly domain: WireName;
  /** What the host adds to the search list of its pods. */
  readonly hostSearch: readonly WireName[];
};

export type ChainParts = {
  readonly zone: Zone;
  readonly cluster: ClusterOptions;
  /** Whether the whole state has once been known. */
  readonly isSynced: () => boolean;
  /** When names last changed, in seconds. */
  readonly serial: () => number;
  /** Told of an answer that holds until its Service changes. */
  readonly keep: (question: Question, answer: Answer, validity: Validity) => void;
  readonly autopath?: AutopathOptions;
  /** Who may ask for names outside of the cluster; absent: everyone. */
  readonly allow?: readonly Cidr[];
  readonly loop: Handler;
  readonly cache: AnswerCache;
  readonly upstream: Upstream;
  /** Milliseconds. */
  readonly now: () => number;
};
