// What a Service was, and what happened to it: what `fairlead history -o json` prints. docs/reference/output-history.md describes it.
import type { Unread } from '../snapshot/snapshot.ts';

/** Of a period, or of one moment. */
export type HistoryOutput = History | HistoryState;

export type History = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'History';
  readonly namespace: string;
  readonly service: string;
  /** RFC 3339, as all times here, on the clock of the server. */
  readonly from: string;
  readonly to: string;
  /** Present where less is known than was requested: why. */
  readonly shortened?: string;
  /** At `from` and at `to`. */
  readonly start: ServiceState;
  readonly end: ServiceState;
  /** In the order in which they happened, which clocks do not change. */
  readonly events: readonly HistoryEvent[];
  readonly outages: readonly Outage[];
  readonly unread: readonly Unread[];
};

export type HistoryState = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'HistoryState';
  readonly namespace: string;
  readonly service: string;
  readonly time: string;
  readonly state: ServiceState;
  readonly unread: readonly Unread[];
};

export type ServiceState = {
  /** Absent: there is no such Service. */
  readonly service?: ServiceFacts;
  readonly endpoints: readonly EndpointFacts[];
  /** Those that the Service selects or that are its endpoints. */
  readonly pods: readonly PodFacts[];
  /** Those of its endpoints and pods. */
  readonly nodes: readonly NodeFacts[];
};

export type ServiceFacts = {
  readonly uid: string;
  readonly created: string;
  readonly type: string;
  readonly clusterIPs: readonly string[];
  readonly ports: readonly string[];
  readonly selector: Readonly<Record<string, string>>;
  readonly externalName?: string;
  /** Addresses and names at which its load balancer takes traffic. */
  readonly loadBalancer: readonly string[];
};

export type EndpointFacts = {
  readonly address: string;
  readonly pod?: string;
  readonly node?: string;
  readonly zone?: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
};

export type PodFacts = {
  readonly name: string;
  readonly node?: string;
  readonly addresses: readonly string[];
  /** As the STATUS column of kubectl. */
  readonly status: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly created: string;
};

export type NodeFacts = {
  readonly name: string;
  readonly ready: boolean;
  readonly schedulable: boolean;
};

export type EventType =
  | 'ServiceCreated'
  | 'ServiceChanged'
  | 'ServiceDeleted'
  | 'EndpointAdded'
  | 'EndpointReady'
  | 'EndpointNotReady'
  | 'EndpointTerminating'
  | 'EndpointServing'
  | 'EndpointNotServing'
  | 'EndpointRemoved'
  | 'EndpointsObjectChanged'
  | 'PodCreated'
  | 'PodScheduled'
  | 'PodReady'
  | 'PodNotReady'
  | 'PodTerminating'
  | 'PodFinished'
  | 'PodDeleted'
  | 'PodSelected'
  | 'PodNotSelected'
  | 'ContainerRestarted'
  | 'ContainerWaiting'
  | 'NodeCreated'
  | 'NodeReady'
  | 'NodeNotReady'
  | 'NodeCordoned'
  | 'NodeUncordoned'
  | 'NodeDeleted'
  | 'FirstEndpointReady'
  | 'LastReadyEndpointLost'
  | 'OutageBegan'
  | 'OutageEnded';

/** `bad` and `good`: the Service stops answering, or answers again. */
export type EventLevel = 'bad' | 'warning' | 'info' | 'good';

export type HistoryEvent = {
  readonly time: string;
  readonly resourceVersion: string;
  readonly type: EventType;
  readonly level: EventLevel;
  /** For people. */
  readonly sentence: string;
  readonly object: { readonly kind: string; readonly name: string };
  /** Who made the change; absent where it is not known. */
  readonly user?: string;
  readonly manager?: string;
  readonly endpoint?: EndpointFacts;
  /** Of ServiceChanged; a value that is absent was or is not set. */
  readonly field?: string;
  readonly before?: string;
  readonly after?: string;
};

export type Outage = {
  /** Absent: before `from`. */
  readonly began?: string;
  /** Absent: it lasts. */
  readonly ended?: string;
  /** Until the end of what is shown, where it lasts. */
  readonly milliseconds: number;
  readonly cause: 'no-endpoints' | 'service-deleted';
};
