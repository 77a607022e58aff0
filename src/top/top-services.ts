// The traffic of Services over all nodes: what `fairlead top services -o json` prints. docs/reference/output-top.md describes it.
import type { BytesCounted } from '../kinds/part/traffic.ts';
import type { Family, Protocol } from '../proxy/model/state.ts';
import type { Unread } from '../snapshot/snapshot.ts';

export type TopServices = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'ServiceTraffic';
  readonly time: string;
  readonly nodes: readonly NodeReport[];
  readonly services: readonly ServiceTraffic[];
  readonly unread: readonly Unread[];
};

/** What the proxy of a node measured, or why there is nothing of it. */
export type NodeReport = {
  readonly node: string;
  readonly reason?: string;
  readonly mode?: string;
  readonly scheduler?: string;
  readonly intervalMilliseconds?: number;
  readonly ageMilliseconds?: number;
  readonly bytesCounted?: BytesCounted;
  readonly omittedRows?: number;
  readonly isPartial?: boolean;
};

export type Rates = {
  readonly openConnections: number;
  readonly unansweredConnections: number;
  readonly newPerSecond: number;
  /** Absent: no node with connections of it counts bytes. */
  readonly bytesInPerSecond?: number;
  readonly bytesOutPerSecond?: number;
};

export type ServiceTraffic = Rates & {
  readonly namespace: string;
  readonly name: string;
  /** That new connections may go to, in the family that has more. */
  readonly usableEndpoints: number;
  readonly skew: Skew;
  readonly ports: readonly PortTraffic[];
};

export type PortTraffic = Rates & {
  readonly portName: string;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: number;
  readonly usableEndpoints: number;
  readonly skew: Skew;
  readonly endpoints: readonly EndpointTraffic[];
};

export type EndpointTraffic = Rates & {
  readonly address: string;
  readonly port: number;
  readonly pod?: string;
  readonly node?: string;
  readonly zone?: string;
  /** Whether some node sends new connections there. */
  readonly isUsed: boolean;
  /** Absent where there is nothing to compare. */
  readonly share?: Share;
};

/** Of the connections that are known, those that ended lately included: from 0 to 1. */
export type Share = {
  /** As many as every other endpoint. */
  readonly even: number;
  /** By the rules of the nodes at which the connections began. */
  readonly expected: number;
  readonly observed: number;
  /** Bounds of the confidence interval of what was observed. */
  readonly low: number;
  readonly high: number;
};

export type SkewVerdict =
  | 'even'
  | 'skewed'
  /** Nothing stands out, but an even spread could look like anything. */
  | 'too-few'
  | 'no-connections'
  | 'one-endpoint'
  /** What decides could not be read. */
  | 'unknown';

export type Skew = {
  readonly verdict: SkewVerdict;
  readonly of?: 'connections' | 'bytes';
  /** Of the endpoint that stands out most: how many times its even share it has. */
  readonly factor?: number;
  readonly endpoint?: string;
  readonly causes: readonly Cause[];
  readonly sentence: string;
};

export type CauseCode =
  | 'affinity'
  | 'few-clients'
  | 'hints'
  | 'policy-local'
  | 'heavy-connections'
  | 'long-connections'
  | 'scheduler'
  | 'added-endpoint'
  | 'unanswered'
  | 'not-known';

export type Cause = {
  readonly code: CauseCode;
  /** With the numbers that show it. */
  readonly evidence: string;
};
