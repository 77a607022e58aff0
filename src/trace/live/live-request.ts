// What a process in the network of the source is asked to do, and its answers. They are messages between two processes of this program.
import type { RecordText } from '../../dns/wire/record-text.ts';
import type { Family, Protocol, ProxyState } from '../../proxy/model/state.ts';
import type { AttemptResult } from './live.ts';

export type LiveRequest =
  | { readonly kind: 'resolver'; readonly path: string }
  | {
      readonly kind: 'query';
      readonly name: string;
      readonly type: 'A' | 'AAAA';
      readonly servers: readonly string[];
      /** Absent: that of DNS. */
      readonly port?: number;
      readonly timeoutMs: number;
    }
  | ConnectRequest
  | {
      readonly kind: 'flows';
      readonly family: Family;
      readonly protocol: Protocol;
      readonly destination: string;
      readonly port: number;
      readonly sourcePorts: readonly number[];
    }
  | { readonly kind: 'rules'; readonly mode: string; readonly state: ProxyState };

export type ConnectRequest = {
  readonly kind: 'connect';
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
  readonly count: number;
  readonly timeoutMs: number;
  /** Sent over UDP, in hexadecimal. */
  readonly payload?: string;
};

export type QueryAnswer = {
  readonly server: string;
  /** Absent: no server answered. */
  readonly rcode?: string;
  readonly records: readonly RecordText[];
  readonly tookMs: number;
  readonly why?: string;
};

export type Attempt = {
  readonly result: AttemptResult;
  readonly tookMs: number;
  readonly sourcePort?: number;
  readonly banner?: string;
  readonly why?: string;
};

/** Where the connection from a port of the source really went. */
export type SeenFlow = {
  readonly sourcePort: number;
  readonly address: string;
  readonly port: number;
};

export type KernelRules = {
  /** Absent: the kernel has no tables of this mode by Fairlead. */
  readonly missing?: readonly string[];
  readonly stale?: readonly string[];
  readonly why?: string;
};

/** By the kind of the request. */
export type LiveAnswers = {
  readonly resolver: { readonly text?: string };
  readonly query: QueryAnswer;
  readonly connect: { readonly attempts: readonly Attempt[] };
  readonly flows: { readonly flows: readonly SeenFlow[] };
  readonly rules: KernelRules;
};

export type LiveAnswer = LiveAnswers[keyof LiveAnswers];

/** Asks a process in some network. Rejects when it has ended, or could not do it. */
export type Ask = <Kind extends LiveRequest['kind']>(
  request: Extract<LiveRequest, { readonly kind: Kind }>,
) => Promise<LiveAnswers[Kind]>;
