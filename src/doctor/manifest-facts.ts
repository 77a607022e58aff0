// What is known of manifests besides their objects: what was refused, and what is not in them.
import type { ManifestProblem } from '../snapshot/snapshot-of-manifests.ts';
import type { ObjectName, SourceLine } from './check.ts';

export type RepeatedManifest = {
  readonly about: ObjectName;
  readonly first: SourceLine;
  readonly second: SourceLine;
};

export type ManifestFacts = {
  /** Objects that the API server would refuse, and documents that are no objects. */
  readonly problems: readonly ManifestProblem[];
  /** Objects that are there twice. */
  readonly repeated: readonly RepeatedManifest[];
  /** The manifests have no nodes. */
  readonly hasMadeUpNodes: boolean;
  /** Kinds that are neither looked at nor known to make pods; some operators make pods of theirs. */
  readonly ignoredKinds: readonly string[];
};

/** Of other programs, and of Kubernetes: they make no pods. */
const podlessKinds: ReadonlySet<string> = new Set([
  ...[
    'APIService',
    'Certificate',
    'CertificateRequest',
    'ClusterIssuer',
    'ClusterPolicy',
    'ControllerRevision',
  ],
  ...[
    'CSIDriver',
    'CustomResourceDefinition',
    'ExternalSecret',
    'ClusterSecretStore',
    'SecretStore',
  ],
  ...[
    'FlowSchema',
    'Gateway',
    'GatewayClass',
    'GRPCRoute',
    'HTTPRoute',
    'TCPRoute',
    'TLSRoute',
    'ReferenceGrant',
  ],
  ...[
    'HorizontalPodAutoscaler',
    'VerticalPodAutoscaler',
    'ScaledObject',
    'Issuer',
    'Kustomization',
    'LimitRange',
  ],
  ...[
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
  ],
  ...[
    'ValidatingAdmissionPolicyBinding',
    'NetworkPolicy',
    'CiliumNetworkPolicy',
    'ClusterPodMonitoring',
  ],
  ...[
    'PersistentVolume',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'PodMonitor',
    'PodSecurityPolicy',
  ],
  ...[
    'Policy',
    'PriorityClass',
    'PriorityLevelConfiguration',
    'Probe',
    'PrometheusRule',
    'AlertmanagerConfig',
  ],
  ...[
    'ResourceQuota',
    'RuntimeClass',
    'SealedSecret',
    'ServiceMonitor',
    'StorageClass',
    'VolumeSnapshotClass',
  ],
  ...[
    'DestinationRule',
    'VirtualService',
    'ServiceEntry',
    'PeerAuthentication',
    'AuthorizationPolicy',
  ],
  ...[
    'IPAddressPool',
    'L2Advertisement',
    'BGPAdvertisement',
    'BGPPeer',
    'IngressRoute',
    'Middleware',
    'TargetGroupBinding',
  ],
]);

/** Whether pods may exist in the namespace that are not among the objects. */
export function mayHaveOtherPods(
  { problems, ignoredKinds }: ManifestFacts,
  namespace: string,
): boolean {
  return (
    ignoredKinds.some((kind) => !podlessKinds.has(kind)) ||
    problems.some((one) => one.kind !== 'Service' && isIn(one, namespace))
  );
}

/** Whether the object is among those that would be refused. */
export function isRefused(
  { problems }: ManifestFacts,
  {
    kind,
    namespace,
    name,
  }: { readonly kind: string; readonly namespace: string; readonly name: string },
): boolean {
  return problems.some(
    (one) =>
      (one.kind === kind || one.kind === '') &&
      isIn(one, namespace) &&
      (one.name === name || one.kind === ''),
  );
}

/** Problems of texts and of objects without a namespace may be of any. */
const isIn = (problem: ManifestProblem, namespace: string): boolean =>
  problem.namespace === undefined || problem.namespace === namespace;
