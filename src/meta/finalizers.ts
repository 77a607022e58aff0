// Finalizers that need no domain in their name. Upstream: pkg/apis/core/helper and apimachinery's meta/v1.

/** On a namespace: the namespace controller has still to delete its content. */
export const kubernetesFinalizer = 'kubernetes';
/** The dependents lose their reference to this owner before it is deleted. */
export const orphanFinalizer = 'orphan';
/** The dependents that block the deletion of this owner are deleted before it. */
export const foregroundFinalizer = 'foregroundDeletion';
/** On a claim: pods that use it may still run. */
export const claimProtectionFinalizer = 'kubernetes.io/pvc-protection';
/** On a volume: it may still be bound to a claim. */
export const volumeProtectionFinalizer = 'kubernetes.io/pv-protection';
