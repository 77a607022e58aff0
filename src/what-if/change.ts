// What a change is: one thing that a user would do to the cluster.
import type { Manifest } from '../snapshot/manifest.ts';
import type { SnapshotKind } from '../snapshot/snapshot.ts';

/** The kinds that changes name. */
export type NamedKind =
  | 'Pod'
  | 'Node'
  | 'Service'
  | 'Namespace'
  | 'Deployment'
  | 'ReplicaSet'
  | 'EndpointSlice'
  | 'Endpoints'
  | WorkloadKind;

/** Workloads of which a snapshot has the pods alone. */
export type WorkloadKind = 'StatefulSet' | 'DaemonSet' | 'ReplicationController' | 'Job';

export type ObjectRef = {
  readonly kind: NamedKind;
  /** Absent for objects of the cluster. */
  readonly namespace?: string;
  readonly name: string;
};

export type Change = { readonly text: string } & (
  | { readonly kind: 'drain' | 'cordon'; readonly node: string }
  | { readonly kind: 'delete'; readonly target: ObjectRef }
  | { readonly kind: 'unready'; readonly target: ObjectRef }
  | { readonly kind: 'scale'; readonly target: ObjectRef; readonly replicas: number }
  | {
      readonly kind: 'set';
      readonly target: ObjectRef;
      readonly path: string;
      readonly value: string;
    }
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
);

type KindWords = {
  readonly words: readonly string[];
  /** Absent for workloads whose pods alone are known. */
  readonly list?: SnapshotKind;
  readonly namespaced: boolean;
};

export const namedKinds: Readonly<Record<NamedKind, KindWords>> = {
  Pod: { words: ['pod', 'po', 'pods'], list: 'pods', namespaced: true },
  Node: { words: ['node', 'no', 'nodes'], list: 'nodes', namespaced: false },
  Service: { words: ['svc', 'service', 'services'], list: 'services', namespaced: true },
  Namespace: { words: ['ns', 'namespace', 'namespaces'], list: 'namespaces', namespaced: false },
  Deployment: {
    words: ['deploy', 'deployment', 'deployments', 'deployment.apps', 'deployments.apps'],
    list: 'deployments',
    namespaced: true,
  },
  ReplicaSet: {
    words: ['rs', 'replicaset', 'replicasets', 'replicaset.apps', 'replicasets.apps'],
    list: 'replicaSets',
    namespaced: true,
  },
  EndpointSlice: {
    words: ['endpointslice', 'endpointslices', 'endpointslice.discovery.k8s.io'],
    list: 'endpointSlices',
    namespaced: true,
  },
  Endpoints: { words: ['ep', 'endpoints'], list: 'endpoints', namespaced: true },
  StatefulSet: {
    words: ['sts', 'statefulset', 'statefulsets', 'statefulset.apps', 'statefulsets.apps'],
    namespaced: true,
  },
  DaemonSet: {
    words: ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps'],
    namespaced: true,
  },
  ReplicationController: {
    words: ['rc', 'replicationcontroller', 'replicationcontrollers'],
    namespaced: true,
  },
  Job: { words: ['job', 'jobs', 'job.batch', 'jobs.batch'], namespaced: true },
};

/** A change that cannot be made, in one sentence. */
export class ChangeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ChangeError';
  }
}

export function refText({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

export function noPodsOf(target: ObjectRef, by: Change): ChangeError {
  return new ChangeError(
    `${by.text}: ${refText(target)} is not known, as ${target.kind}s are known by their pods alone, and it has none`,
  );
}
