// Labels whose meaning Kubernetes defines and that more than one file reads or writes.
// Upstream: well_known_labels.go in k8s.io/api/core/v1 and k8s.io/api/discovery/v1.

// Of nodes: where they are and what they are.
export const hostnameLabel = 'kubernetes.io/hostname';
export const zoneLabel = 'topology.kubernetes.io/zone';
export const regionLabel = 'topology.kubernetes.io/region';
export const instanceTypeLabel = 'node.kubernetes.io/instance-type';
export const osLabel = 'kubernetes.io/os';
export const archLabel = 'kubernetes.io/arch';
/** A prefix: the role follows it. */
export const nodeRolePrefix = 'node-role.kubernetes.io/';
export const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';

// Of nodes: names that were in use before the ones above.
export const betaZoneLabel = 'failure-domain.beta.kubernetes.io/zone';
export const betaRegionLabel = 'failure-domain.beta.kubernetes.io/region';
export const betaInstanceTypeLabel = 'beta.kubernetes.io/instance-type';
export const betaOsLabel = 'beta.kubernetes.io/os';
export const betaArchLabel = 'beta.kubernetes.io/arch';
export const masterLabel = 'node-role.kubernetes.io/master';

/** The name of its namespace, on every namespace: selectors select by label only. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

// Of Services, Endpoints and EndpointSlices.
/** On an EndpointSlice: the Service it belongs to. */
export const serviceNameLabel = 'kubernetes.io/service-name';
/** On an EndpointSlice: the controller or program that writes it. */
export const sliceManagedByLabel = 'endpointslice.kubernetes.io/managed-by';
/** On Endpoints that a controller writes; those that people write have none. */
export const endpointsManagedByLabel = 'endpoints.kubernetes.io/managed-by';
/** On Endpoints: no EndpointSlices mirror them. */
export const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
/** On Endpoints and EndpointSlices of a headless Service. */
export const headlessLabel = 'service.kubernetes.io/headless';
/** On a Service: another proxy than the default one implements it. */
export const serviceProxyNameLabel = 'service.kubernetes.io/service-proxy-name';

// Recommended labels of applications: which program it is, which installation of it, which part.
export const appNameLabel = 'app.kubernetes.io/name';
export const appInstanceLabel = 'app.kubernetes.io/instance';
export const appComponentLabel = 'app.kubernetes.io/component';

// Of pods, by their controllers.
/** On a pod of a StatefulSet: its name. */
export const statefulPodLabel = 'statefulset.kubernetes.io/pod-name';
/** On a pod of a StatefulSet: its ordinal. */
export const podIndexLabel = 'apps.kubernetes.io/pod-index';
/** On a pod of a StatefulSet or DaemonSet: the revision of its template. */
export const revisionLabel = 'controller-revision-hash';
/** On a pod of a DaemonSet: how often the template had changed. */
export const podTemplateGenerationLabel = 'pod-template-generation';
/** On a pod of a Job: the Job. */
export const jobNameLabel = 'batch.kubernetes.io/job-name';
/** On a pod of a Job: the UID of the Job. */
export const controllerUidLabel = 'batch.kubernetes.io/controller-uid';
/** On a pod of an indexed Job, as a label and as an annotation: its index. */
export const completionIndexKey = 'batch.kubernetes.io/job-completion-index';
