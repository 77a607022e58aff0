// What can be set of the controllers, and what holds where nothing is said: kube-controller-manager's defaults
// but for what is noted.
import type { Family } from '../ip/address.ts';
import type { Cidr } from '../ip/cidr.ts';

export type NodeIpamSettings = {
  /** One of each family; the first gives nodes their podCIDR. */
  readonly clusterCidrs: readonly Cidr[];
  readonly maskSizes: Readonly<Record<Family, number>>;
  /** No node gets addresses of services. */
  readonly serviceCidrs: readonly Cidr[];
};

export type ControllerSettings = {
  readonly concurrentEndpointSyncs: number;
  readonly concurrentServiceEndpointSyncs: number;
  readonly mirroringConcurrentServiceEndpointSyncs: number;
  readonly concurrentDeploymentSyncs: number;
  readonly concurrentReplicaSetSyncs: number;
  readonly concurrentReplicationControllerSyncs: number;
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
  /** Absent: nodes get no ranges for their pods from us. */
  readonly nodeIpam?: NodeIpamSettings;
};

/** Upstream has five. Writers of this server share one sync of the disk, so more of them keep step with many changes. */
const endpointWriters = 16;
/** Upstream waits not at all. Pods of one roll-out change together; waiting this long makes one write of a burst. */
const podBatchMs = 20;

export const defaultSettings: ControllerSettings = {
  concurrentEndpointSyncs: endpointWriters,
  concurrentServiceEndpointSyncs: endpointWriters,
  mirroringConcurrentServiceEndpointSyncs: endpointWriters,
  concurrentDeploymentSyncs: 5,
  concurrentReplicaSetSyncs: 5,
  concurrentReplicationControllerSyncs: 5,
  concurrentNamespaceSyncs: 10,
  concurrentGarbageCollectorSyncs: 20,
  // Readers handle a slice of a hundred well, and a change to one endpoint stays a small write.
  maxEndpointsPerSlice: 100,
  // A slice holds no more than a thousand.
  mirroringMaxEndpointsPerSubset: 1000,
  endpointUpdatesBatchMs: podBatchMs,
  endpointSliceUpdatesBatchMs: podBatchMs,
  mirroringEndpointSliceUpdatesBatchMs: 0,
  // An agent renews its lease every ten seconds; after this many missed ones it counts as gone.
  nodeMonitorGraceMs: 50_000,
  // A machine that has just started takes its time until it reports.
  nodeStartupGraceMs: 60_000,
  terminatedPodGcThreshold: 12_500,
};
