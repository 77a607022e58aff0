// What changes would do to Services: what `fairlead what-if -o json` prints. docs/reference/output-what-if.md describes it.
import type { Family, Protocol } from '../proxy/model/state.ts';
import type { Entrance } from '../proxy/packets/reference-model.ts';
import type { Unread } from '../snapshot/snapshot.ts';

/** From harmless to harmful. */
export const levels = ['none', 'change', 'interruption', 'outage'] as const;
export type Level = (typeof levels)[number];

export type WhatIf = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'WhatIf';
  /** Of the cluster that was compared with. */
  readonly resourceVersion?: string;
  /** What each change comes to, in the order in which they were made. */
  readonly changes: readonly string[];
  readonly verdict: Verdict;
  /** Those whose behaviour changes, the worst first. */
  readonly services: readonly ServiceComparison[];
  readonly pods: PodChanges;
  /** What was taken for granted. */
  readonly assumptions: readonly string[];
  /** Lists that could not be read. */
  readonly unread: readonly Unread[];
};

export type Verdict = {
  readonly level: Level;
  readonly sentence: string;
};

export type PodChanges = {
  /** That a drain evicts. */
  readonly evicted: number;
  readonly deleted: number;
  readonly created: number;
  readonly unscheduled: readonly UnscheduledPods[];
};

/** New pods that no node takes. */
export type UnscheduledPods = {
  readonly namespace: string;
  /** What makes them, such as `ReplicaSet web-1`, or the pod itself. */
  readonly owner: string;
  readonly count: number;
  /** The scheduler's. */
  readonly message: string;
};

export type ServiceComparison = {
  readonly namespace: string;
  readonly name: string;
  readonly existence: 'created' | 'deleted' | 'changed' | 'unchanged';
  readonly level: Level;
  readonly sentence: string;
  /** By port and family, and by where clients are; only what differs. */
  readonly views: readonly View[];
  readonly entrances: readonly EntranceChange[];
  readonly names: readonly NameChange[];
  readonly connections: Connections;
};

/** A port of a Service, as some clients see it. */
export type View = {
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: number;
  readonly portName?: string;
  readonly clients: Clients;
  readonly before: Outcome;
  /** Until new pods are ready, where this is worse than before and after. */
  readonly meanwhile?: Outcome;
  readonly after: Outcome;
  /** That get connections before or after, by address. */
  readonly endpoints: readonly EndpointShares[];
  readonly zones: readonly ZoneShares[];
};

export type Clients = {
  /** `cluster`: pods and nodes, by cluster IP or name. `outside`: by load balancer, external IP or node port. */
  readonly from: 'cluster' | 'outside';
  /** Of outside clients: the address by which they come in. */
  readonly entrance?: Entrance;
  /** The nodes on which they are, or at which they arrive; absent: any. */
  readonly nodes?: readonly string[];
  readonly sentence: string;
};

/** `no-such-name`: of headless Services, whose DNS answers are the choice. `no-service`: the address and port are of no Service. */
export type Outcome = 'answered' | 'refused' | 'dropped' | 'no-such-name' | 'no-service';

export type Shares = {
  /** Of new connections, from 0 to 1. */
  readonly before: number;
  readonly after: number;
};

export type EndpointShares = Shares & {
  readonly address: string;
  readonly port: number;
  /** `namespace/name`; absent for endpoints that are no pods. */
  readonly pod?: string;
  readonly node?: string;
  readonly zone?: string;
  /** It is not there yet: name and address of its pod are made up. */
  readonly isNew: boolean;
};

export type ZoneShares = Shares & { readonly zone: string };

/** An address and port that the proxies would no longer capture, or newly capture. */
export type EntranceChange = {
  readonly change: 'appears' | 'vanishes';
  readonly kind: Entrance | 'health-check-node-port';
  /** Absent for ports of nodes. */
  readonly address?: string;
  readonly port: number;
  readonly protocol: Protocol;
};

export type NameChange = {
  readonly change: 'appears' | 'vanishes' | 'changes';
  readonly name: string;
  readonly type: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
};

export type Connections = {
  /** Pods whose connections end, because they go. */
  readonly ends: readonly EndingPod[];
  /** Pods that get no new connections, while those that are open go on. */
  readonly stays: readonly string[];
  /** Clients that sessionAffinity binds to a pod that goes get another one. */
  readonly affinitySeconds?: number;
};

export type EndingPod = {
  readonly pod: string;
  readonly node?: string;
  readonly graceSeconds?: number;
};
