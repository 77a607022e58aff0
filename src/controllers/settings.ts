// Settings of the controllers. Defaults are kube-controller-manager's unless a comment says otherwise.
import type { Family } from '../ip/address.ts';
import type { Cidr } from '../ip/cidr.ts';

export type NodeIpamSettings = {
  /** At most one of each family; the first one provides `spec.podCIDR`. */
  readonly clusterCidrs: readonly Cidr[];
  readonly maskSizes: Readonly<Record<Family, number>>;
  /** Pod ranges never overlap these. */
  readonly serviceCidrs: readonly Cidr[];
};

export type ControllerSettings = {
  readonly concurrentEndpointSyncs: number;
  readonly concurrentServiceEndpointSyncs: number;
  readonly mirroringConcurrentServiceEndpointSyncs: number;
  readonly concurrentDeploymentSyncs: number;
  readonly concurrentDaemonSetSyncs: number;
  readonly concurrentStatefulSetSyncs: number;
  readonly concurrentReplicaSetSyncs: number;
  readonly concurrentReplicationControllerSyncs: number;
  readonly concurrentJobSyncs: number;
  readonly concurrentCronJobSyncs: number;
  readonly concurrentTtlAfterFinishedSyncs: number;
  readonly concurrentNamespaceSyncs: number;
  readonly concurrentGarbageCollectorSyncs: number;
  readonly maxEndpointsPerSlice: number;
  readonly mirroringMaxEndpointsPerSubset: number;
  readonly endpointUpdatesBatchMs: number;
  readonly endpointSliceUpdatesBatchMs: number;
  readonly mirroringEndpointSliceUpdatesBatchMs: number;
  readonly nodeMonitorGraceMs: number;
  readonly nodeStartupGraceMs: number;
  readonly terminatedPodGcThreshold: number;
  /** Absent: pod ranges are not allocated. */
  readonly nodeIpam?: NodeIpamSettings;
};

/** Upstream: 5. Concurrent writers share one fsync of this API server, so more of them cost little. */
const endpointWriters = 16;
/** Upstream: 0. Pods of a rollout change together; a short batch period turns a burst into one write. */
const podBatchMs = 20;

export const defaultSettings: ControllerSettings = {
  concurrentEndpointSyncs: endpointWriters,
  concurrentServiceEndpointSyncs: endpointWriters,
  mirroringConcurrentServiceEndpointSyncs: endpointWriters,
  concurrentDeploymentSyncs: 5,
  concurrentDaemonSetSyncs: 2,
  concurrentStatefulSetSyncs: 5,
  concurrentReplicaSetSyncs: 5,
  concurrentReplicationControllerSyncs: 5,
  concurrentJobSyncs: 5,
  concurrentCronJobSyncs: 5,
  concurrentTtlAfterFinishedSyncs: 5,
  concurrentNamespaceSyncs: 10,
  concurrentGarbageCollectorSyncs: 20,
  // Small enough that a change of one endpoint is a small write.
  maxEndpointsPerSlice: 100,
  // The API's limit of endpoints per slice.
  mirroringMaxEndpointsPerSubset: 1000,
  endpointUpdatesBatchMs: podBatchMs,
  endpointSliceUpdatesBatchMs: podBatchMs,
  mirroringEndpointSliceUpdatesBatchMs: 0,
  // Five missed renewals of the kubelet's lease.
  nodeMonitorGraceMs: 50_000,
  // A node that has just been created needs longer until its first report.
  nodeStartupGraceMs: 60_000,
  terminatedPodGcThreshold: 12_500,
};
