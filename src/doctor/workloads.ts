// The workloads that make the pods of a cluster, as far as a snapshot has them.

import type { Deployment } from '../kinds/deployment/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { ReplicaSet } from '../kinds/replica-set/types.ts';
import type { Labels } from '../meta/labels.ts';
import { controllerOf } from '../meta/owner.ts';
import type { Cluster } from './subject.ts';

export type Workload = Deployment | ReplicaSet;

/** Those of a namespace that would make pods with all labels of the selector. */
export function workloadsFor(
  cluster: Cluster,
  namespace: string,
  selector: Labels,
): readonly Workload[] {
  const all = cluster.once(workloadsByNamespace).get(namespace) ?? [];
  return all.filter(({ spec }) => hasAll(spec.template?.metadata?.labels ?? {}, selector));
}

/** Deployments, and ReplicaSets that no Deployment has made. */
function workloadsByNamespace({ index }: Cluster): ReadonlyMap<string, readonly Workload[]> {
  const { deployments, replicaSets } = index.snapshot.objects;
  const groups = new Map<string, Workload[]>();
  for (const workload of [...deployments, ...replicaSets]) {
    if (controllerOf(workload) !== undefined) continue;
    const namespace = workload.metadata.namespace ?? '';
    const group = groups.get(namespace);
    if (group === undefined) groups.set(namespace, [workload]);
    else group.push(workload);
  }
  return groups;
}

export function hasAll(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

const hashLabel = 'pod-template-hash';

/** What made the pod, such as `Deployment web`; a pod made by hand stands for itself. */
export function workloadOf(pod: Pod): { readonly kind: string; readonly name: string } {
  const owner = controllerOf(pod);
  const { name = '', labels = {} } = pod.metadata;
  if (owner === undefined) return { kind: 'Pod', name };
  const hash = labels[hashLabel];
  if (owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`)) {
    return { kind: 'Deployment', name: owner.name.slice(0, -hash.length - 1) };
  }
  return { kind: owner.kind, name: owner.name };
}

/** A pod for each workload in scope: what its template says is found once. */
export function onePodOfEach({ index, isInScope }: Cluster): readonly Pod[] {
  const seen = new Set<string>();
  return index.snapshot.objects.pods.filter(({ metadata }) => {
    const { namespace = '', name, ownerReferences } = metadata;
    const workload = `${namespace} ${ownerReferences?.[0]?.uid ?? name}`;
    if (!isInScope(namespace) || seen.has(workload)) return false;
    seen.add(workload);
    return true;
  });
}
