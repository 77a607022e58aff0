// How far the changes of a Service have come: what `fairlead propagation -o json` prints. docs/reference/output-propagation.md describes it.

/** A state, and with `--watch` the changes that follow it, a line for each. */
export type PropagationOutput = Propagation | PropagationChange;

export type Propagation = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'Propagation';
  readonly namespace: string;
  readonly service: string;
  /** RFC 3339, as all times here, on the clock of the server. */
  readonly time: string;
  /** The newest of the Service and its EndpointSlices. */
  readonly revision: string;
  readonly state: PropagationState;
  readonly parts: readonly PartState[];
  readonly nodesWithoutProxy: readonly string[];
};

/** unknown: no part is connected, one does not answer, or a node has no proxy of Fairlead. */
export type PropagationState = 'current' | 'behind' | 'unknown';

export type PartState = {
  readonly kind: string;
  readonly node: string;
  readonly state: 'current' | 'behind' | 'no-answer';
  /** Why there is no answer. */
  readonly reason?: string;
  readonly mode?: string;
  /** What it serves; absent where that is not known. */
  readonly revision?: string;
  readonly since?: string;
  /** For longer than that: the part does not remember. */
  readonly sinceBefore?: boolean;
  readonly behindRevisions?: number;
  readonly behindMilliseconds?: number;
};

export type ChangeType =
  | 'RevisionChanged'
  | 'PartConnected'
  | 'PartDisconnected'
  | 'PartCurrent'
  | 'PartBehind'
  | 'PartNoAnswer'
  | 'NodeWithoutProxy'
  | 'NodeHasProxy'
  | 'AllCurrent'
  | 'ServerLost'
  | 'ServerFound'
  | 'ServiceDeleted';

export type PropagationChange = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'PropagationChange';
  readonly time: string;
  readonly type: ChangeType;
  readonly revision: string;
  /** Of changes of a part. */
  readonly part?: PartState;
  /** Of changes of a node. */
  readonly node?: string;
  /** Of ServerLost. */
  readonly reason?: string;
};
