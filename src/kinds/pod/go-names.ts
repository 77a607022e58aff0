// How Go names what pod templates are made of, where that does not follow from the JSON name or the schema. The hash
// of a template is taken over a text in these names, so they matter to the letter. Upstream: k8s.io/api/core/v1.

/** Go's name of a field, by its JSON name; all others are the JSON name with a capital. */
export const goFieldNames: Readonly<Record<string, string>> = {
  apiVersion: 'APIVersion',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  cephfs: 'CephFS',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  csi: 'CSI',
  diskURI: 'DataDiskURI',
  dnsConfig: 'DNSConfig',
  dnsPolicy: 'DNSPolicy',
  fc: 'FC',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsType: 'FSType',
  gcePersistentDisk: 'GCEPersistentDisk',
  gmsaCredentialSpec: 'GMSACredentialSpec',
  gmsaCredentialSpecName: 'GMSACredentialSpecName',
  grpc: 'GRPC',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  ip: 'IP',
  iqn: 'IQN',
  iscsi: 'ISCSI',
  iscsiInterface: 'ISCSIInterface',
  nfs: 'NFS',
  os: 'OS',
  pdName: 'PDName',
  rbd: 'RBD',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  seLinuxOptions: 'SELinuxOptions',
  serviceAccount: 'DeprecatedServiceAccount',
  sslEnabled: 'SSLEnabled',
  storageos: 'StorageOS',
  targetWWNs: 'TargetWWNs',
  tcpSocket: 'TCPSocket',
  tty: 'TTY',
  uid: 'UID',
  wwids: 'WWIDs',
};

/** Go's name of a field whose JSON name has another in other structs. */
export const goFieldNamesOfStructs: Readonly<Record<string, string>> = {
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'ManagedFieldsEntry.fieldsV1': 'FieldsV1',
  'PersistentVolumeClaimTemplate.metadata': 'ObjectMeta',
  'PodTemplateSpec.metadata': 'ObjectMeta',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.pool': 'RBDPool',
  'RBDVolumeSource.user': 'RadosUser',
};

/** Go's types of scalars and of the items of lists, where they have a type of their own. */
export const goTypes: Readonly<Record<string, string>> = {
  'AppArmorProfile.type': 'v1.AppArmorProfileType',
  'AzureDiskVolumeSource.cachingMode': 'v1.AzureDataDiskCachingMode',
  'AzureDiskVolumeSource.kind': 'v1.AzureDataDiskKind',
  'Capabilities.add': 'v1.Capability',
  'Capabilities.drop': 'v1.Capability',
  'Container.imagePullPolicy': 'v1.PullPolicy',
  'Container.restartPolicy': 'v1.ContainerRestartPolicy',
  'Container.terminationMessagePolicy': 'v1.TerminationMessagePolicy',
  'ContainerPort.protocol': 'v1.Protocol',
  'ContainerResizePolicy.resourceName': 'v1.ResourceName',
  'ContainerResizePolicy.restartPolicy': 'v1.ResourceResizeRestartPolicy',
  'ContainerRestartRule.action': 'v1.ContainerRestartRuleAction',
  'ContainerRestartRuleOnExitCodes.operator': 'v1.ContainerRestartRuleOnExitCodesOperator',
  'EmptyDirVolumeSource.medium': 'v1.StorageMedium',
  'HTTPGetAction.scheme': 'v1.URIScheme',
  'HostPathVolumeSource.type': 'v1.HostPathType',
  'ImageVolumeSource.pullPolicy': 'v1.PullPolicy',
  'LabelSelectorRequirement.operator': 'v1.LabelSelectorOperator',
  'Lifecycle.stopSignal': 'v1.Signal',
  'ManagedFieldsEntry.operation': 'v1.ManagedFieldsOperationType',
  'NodeSelectorRequirement.operator': 'v1.NodeSelectorOperator',
  'ObjectMeta.uid': 'types.UID',
  'OwnerReference.uid': 'types.UID',
  'PersistentVolumeClaimSpec.accessModes': 'v1.PersistentVolumeAccessMode',
  'PersistentVolumeClaimSpec.volumeMode': 'v1.PersistentVolumeMode',
  'PodOS.name': 'v1.OSName',
  'PodReadinessGate.conditionType': 'v1.PodConditionType',
  'PodSecurityContext.fsGroupChangePolicy': 'v1.PodFSGroupChangePolicy',
  'PodSecurityContext.seLinuxChangePolicy': 'v1.PodSELinuxChangePolicy',
  'PodSecurityContext.supplementalGroupsPolicy': 'v1.SupplementalGroupsPolicy',
  'PodSpec.dnsPolicy': 'v1.DNSPolicy',
  'PodSpec.preemptionPolicy': 'v1.PreemptionPolicy',
  'PodSpec.restartPolicy': 'v1.RestartPolicy',
  'SeccompProfile.type': 'v1.SeccompProfileType',
  'SecurityContext.procMount': 'v1.ProcMountType',
  'Toleration.effect': 'v1.TaintEffect',
  'Toleration.operator': 'v1.TolerationOperator',
  'TopologySpreadConstraint.nodeAffinityPolicy': 'v1.NodeInclusionPolicy',
  'TopologySpreadConstraint.nodeTaintsPolicy': 'v1.NodeInclusionPolicy',
  'TopologySpreadConstraint.whenUnsatisfiable': 'v1.UnsatisfiableConstraintAction',
  'VolumeMount.mountPropagation': 'v1.MountPropagationMode',
  'VolumeMount.recursiveReadOnly': 'v1.RecursiveReadOnlyMode',
};

/**
 * Fields that Go keeps in a struct inside the struct, which JSON does not show: they stand together at the place of
 * the first.
 */
export const goEmbedded: Readonly<Record<string, Embedded>> = {
  ConfigMapEnvSource: { name: 'LocalObjectReference', fields: ['name'] },
  ConfigMapKeySelector: { name: 'LocalObjectReference', fields: ['name'] },
  ConfigMapProjection: { name: 'LocalObjectReference', fields: ['name'] },
  ConfigMapVolumeSource: { name: 'LocalObjectReference', fields: ['name'] },
  Probe: { name: 'ProbeHandler', fields: ['exec', 'httpGet', 'tcpSocket', 'grpc'] },
  SecretEnvSource: { name: 'LocalObjectReference', fields: ['name'] },
  SecretKeySelector: { name: 'LocalObjectReference', fields: ['name'] },
  SecretProjection: { name: 'LocalObjectReference', fields: ['name'] },
  Volume: { name: 'VolumeSource', allBut: ['name'] },
};

export type Embedded =
  | { readonly name: string; readonly fields: readonly string[] }
  | { readonly name: string; readonly allBut: readonly string[] };
