// Annotations whose meaning Kubernetes defines and that more than one file reads or writes.
// Upstream: annotation_key_constants.go in k8s.io/api/core/v1.

/** What `kubectl apply` applied last, as JSON. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

// Of Services and Endpoints.
export const topologyModeAnnotation = 'service.kubernetes.io/topology-mode';
/** The name of `topology-mode` before Kubernetes 1.27; it wins where both are set. */
export const topologyHintsAnnotation = 'service.kubernetes.io/topology-aware-hints';
export const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
/** When the change of a Service or a pod happened that made a controller write the object. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
/** Endpoints that hold the leader election of an old client; they belong to no Service. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';

// Of pods.
export const podDeletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
export const podSeccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
/** A prefix: the container's name follows it. */
export const containerSeccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
/** A prefix: the container's name follows it. */
export const containerAppArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** The class of an Ingress before `spec.ingressClassName`. */
export const ingressClassAnnotation = 'kubernetes.io/ingress.class';

/** On the roles and bindings that the API server brings: whether it repairs them when it starts. */
export const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate';

/** On the bookmark of a watch: all objects that existed when it began have been sent. */
export const initialEventsEndAnnotation = 'k8s.io/initial-events-end';

// Of claims, volumes and storage classes.
/** The class of a claim before `spec.storageClassName`. */
export const betaStorageClassAnnotation = 'volume.beta.kubernetes.io/storage-class';
/** On a StorageClass: claims without a class get it. */
export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';
/** The name of `is-default-class` before Kubernetes 1.6. */
export const betaDefaultClassAnnotation = 'storageclass.beta.kubernetes.io/is-default-class';
/** On a PersistentVolume, before `spec.mountOptions`. */
export const mountOptionsAnnotation = 'volume.beta.kubernetes.io/mount-options';

/** On a DaemonSet: how often its template has changed. */
export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation';
