// What a client that creates something in a collection that is always empty can use instead. kubectl prints it.

const storageAdvice =
  'Volumes are directories of the node here: use a PersistentVolumeClaim of the StorageClass "local"';
const devicesAdvice =
  'No node offers devices here: give pods that need one a node of another cluster, or leave the claim out';

const advice: ReadonlyMap<string, string> = new Map([
  [
    'horizontalpodautoscalers.autoscaling',
    'Nothing measures the load of pods here: set the number of replicas, for example with "kubectl scale --replicas"',
  ],
  [
    'networkpolicies.networking.k8s.io',
    'Nothing would enforce it here, and every pod reaches every other: restrict what a program listens on, or use a network that enforces policies',
  ],
  [
    'runtimeclasses.node.k8s.io',
    'A node has one runtime here: leave runtimeClassName out, and choose the runtime with flags of the node',
  ],
  [
    'validatingadmissionpolicies.admissionregistration.k8s.io',
    'Only plugins that are built in judge requests here: see --enable-admission-plugins',
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'Only kinds that are built in are stored here: use a ConfigMap, or a cluster that takes custom resources',
  ],
  ['csidrivers.storage.k8s.io', storageAdvice],
  ['csinodes.storage.k8s.io', storageAdvice],
  ['csistoragecapacities.storage.k8s.io', storageAdvice],
  ['volumeattachments.storage.k8s.io', storageAdvice],
  ['volumeattributesclasses.storage.k8s.io', storageAdvice],
  ['deviceclasses.resource.k8s.io', devicesAdvice],
  ['resourceclaims.resource.k8s.io', devicesAdvice],
  ['resourceclaimtemplates.resource.k8s.io', devicesAdvice],
  ['resourceslices.resource.k8s.io', devicesAdvice],
]);

/** Of a resource such as `resourceclaims.resource.k8s.io`. */
export function adviceFor(resource: string): string {
  return advice.get(resource) ?? 'See "kubectl api-resources" for what can be created';
}
