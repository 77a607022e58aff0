// How many replicas the workloads of pods want: the denominator of percentages. Upstream: getExpectedScale() in
// pkg/controller/disruption.
import { type ApiCaller, callApi } from '../../client/api-call.ts';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import type { Informer } from '../../client/informer.ts';
import { resourcePath } from '../../client/resource.ts';
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import type { ReplicationController } from '../../kinds/replication-controller/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import {
  groupResource,
  type KubeObject,
  type OwnerReference,
  objectKey,
} from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';

export type ScaleParts = {
  readonly caller: ApiCaller;
  readonly deployments: Informer<Deployment>;
  readonly sets: Informer<ReplicaSet>;
  readonly replicationControllers: Informer<ReplicationController>;
};

export type Scale = {
  readonly replicas: number;
  /** Whether there are pods without a controller. */
  readonly hasUnmanaged: boolean;
};

/** Throws where a controller has no number of replicas. */
export async function readScale(parts: ScaleParts, pods: readonly Pod[]): Promise<Scale> {
  /** By the UID of the workload: several replica sets belong to one deployment. */
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  let hasUnmanaged = false;
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (controller === undefined) {
      hasUnmanaged = true;
      continue;
    }
    if (seen.has(controller.uid)) continue;
    seen.add(controller.uid);
    const { uid, replicas } = await scaleOf(parts, pod, controller);
    scales.set(uid, replicas);
  }
  return { replicas: [...scales.values()].reduce((a, b) => a + b, 0), hasUnmanaged };
}

type WorkloadScale = { readonly uid: string; readonly replicas: number };

async function scaleOf(
  parts: ScaleParts,
  pod: Pod,
  controller: OwnerReference,
): Promise<WorkloadScale> {
  const { namespace = '' } = pod.metadata;
  const found =
    cachedScale(parts, namespace, controller) ??
    (await readScaleSubresource(parts.caller, namespace, controller));
  if (found === undefined)
    throw new Error(`found no controllers for pod "${pod.metadata.name ?? ''}"`);
  return found;
}

function cachedScale(
  { deployments, sets, replicationControllers }: ScaleParts,
  namespace: string,
  controller: OwnerReference,
): WorkloadScale | undefined {
  const key = objectKey({ namespace, name: controller.name });
  if (controller.kind === 'ReplicationController')
    return own(replicationControllers.store.get(key), controller);
  if (controller.kind !== 'ReplicaSet' || !controller.apiVersion.startsWith('apps/'))
    return undefined;
  const set = sets.store.get(key);
  const above = set === undefined ? undefined : controllerOf(set);
  if (set === undefined || above?.kind !== 'Deployment') return own(set, controller);
  const deployment = deployments.store.get(objectKey({ namespace, name: above.name }));
  return own(deployment, above);
}

function own(
  workload: (KubeObject & { readonly spec: { readonly replicas?: number } }) | undefined,
  { uid }: OwnerReference,
): WorkloadScale | undefined {
  if (workload === undefined || workload.metadata.uid !== uid) return undefined;
  return { uid, replicas: workload.spec.replicas ?? 1 };
}

type ScaleObject = KubeObject & { readonly spec?: { readonly replicas?: number } };

/** Any other workload is asked. */
async function readScaleSubresource(
  caller: ApiCaller,
  namespace: string,
  controller: OwnerReference,
): Promise<WorkloadScale | undefined> {
  const resource = await findResource(caller, controller);
  if (resource === undefined) return undefined;
  const name = { namespace, name: controller.name, subresource: 'scale' };
  try {
    const path = resourcePath(resource, name);
    const scale = (await callApi(caller, { method: 'GET', path })) as ScaleObject;
    if (scale.metadata.uid !== controller.uid) return undefined;
    return { uid: controller.uid, replicas: scale.spec?.replicas ?? 0 };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (resource.subresources.includes('scale')) return undefined;
    const what = groupResource(resource.group, resource.plural);
    throw new Error(`${what} does not implement the scale subresource`);
  }
}

async function findResource(
  caller: ApiCaller,
  { apiVersion, kind }: OwnerReference,
): Promise<DiscoveredResource | undefined> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const all = await discover(caller);
  return all.find((one) => one.kind === kind && one.group === group && one.version === version);
}
