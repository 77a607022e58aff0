// What became of a connection that was tried, beside what was predicted of it. docs/reference/output-trace.md describes it.
import type { RecordText } from '../../dns/wire/record-text.ts';
import type { Protocol } from '../../proxy/model/state.ts';
import type { Resolver } from '../trace.ts';

export type LiveTrace = {
  /** From where it was tried, and by which means. */
  readonly site: string;
  /** As resolv.conf has it there; absent: not read. */
  readonly resolver?: LiveResolver;
  readonly queries: readonly LiveQuery[];
  readonly connections: readonly LiveConnection[];
  readonly rules: readonly LiveRules[];
  /** In the order of the hops: the first one is where the world differs from the plan first. */
  readonly differences: readonly Difference[];
  /** Whether every connection that was tried at the first address got an answer. */
  readonly isAnswered: boolean;
  /** What could not be tried or seen, and why. */
  readonly notes: readonly string[];
  readonly sentence: string;
};

export type LiveResolver = Pick<Resolver, 'nameservers' | 'searches' | 'options' | 'ndots'>;

export type LiveQuery = {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'any';
  /** Of the DNS; absent where a program of the image asked. */
  readonly server?: string;
  readonly answer: 'records' | 'no-data' | 'no-such-name' | 'refused' | 'failed' | 'not-answered';
  readonly records: readonly Pick<RecordText, 'type' | 'data'>[];
  readonly tookMs?: number;
  /** Of `failed` and `not-answered`. */
  readonly why?: string;
};

/**
 * `silent`: a datagram was sent and nothing came back, which says nothing. `closed`: the connection was accepted and ended at once.
 * `untried`: it cannot be tried from there.
 */
export type AttemptResult =
  | 'answered'
  | 'silent'
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'closed'
  | 'unreachable'
  | 'failed'
  | 'untried';

export type LiveConnection = {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  readonly attempts: number;
  /** How many attempts had which result. */
  readonly results: Readonly<Partial<Record<AttemptResult, number>>>;
  /** Of the first attempt. */
  readonly tookMs?: number;
  /** Where the attempts went by the kernel's table of connections; empty: it could not be read. */
  readonly endpoints: readonly LiveEndpoint[];
  /** What the server said first, unless it waits for the client. */
  readonly banner?: string;
  readonly why?: string;
};

export type LiveEndpoint = {
  /** The node that sent them there. */
  readonly node: string;
  readonly address: string;
  readonly port: number;
  readonly pod?: string;
  readonly attempts: number;
  /** As predicted; 0: none of those that were. */
  readonly chance: number;
};

/** What the kernel of a node holds for the service port, against what the objects ask for. */
export type LiveRules = {
  readonly node: string;
  readonly mode: string;
  readonly state: 'as-wanted' | 'differ' | 'unknown';
  readonly missing: readonly string[];
  readonly stale: readonly string[];
  /** Of `unknown`. */
  readonly why?: string;
};

export type Difference = {
  readonly hop: 'resolver' | 'name' | 'rules' | 'endpoints' | 'connection';
  readonly planned: string;
  readonly observed: string;
  readonly sentence: string;
};
