// Taints of nodes that more than one file sets or tolerates.
// Upstream: well_known_taints.go in k8s.io/api/core/v1.

export const notReadyTaint = 'node.kubernetes.io/not-ready';
export const unreachableTaint = 'node.kubernetes.io/unreachable';
export const unschedulableTaint = 'node.kubernetes.io/unschedulable';
export const diskPressureTaint = 'node.kubernetes.io/disk-pressure';
export const memoryPressureTaint = 'node.kubernetes.io/memory-pressure';
export const pidPressureTaint = 'node.kubernetes.io/pid-pressure';
export const networkUnavailableTaint = 'node.kubernetes.io/network-unavailable';
/** Set by the cluster autoscaler on a node that it is about to remove. */
export const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler';
