// What a volume is made of. Most types belong to storage drivers that are gone; they are kept so that manifests can
// be read. They differ from those of pods in their references, which name a namespace.
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';
import { must } from '../pod/references.ts';
import { hostPath, nfs } from '../pod/volume.ts';
import * as plugins from '../pod/volume-plugins.ts';

const secretReference = s.struct(
  'SecretReference',
  {
    name: s.string('Name of the Secret.'),
    namespace: s.string('Namespace of the Secret.'),
  },
  { mapType: 'atomic', numbers: [1, 2] },
);
const secretRef = s.pointer(secretReference, 'Secret with the credentials.');
const fsType = s.string('File system of the volume.');
const readOnly = s.boolean('The volume cannot be written.');

/** Without the index signature of all structs. */
type Named<F> = { [K in keyof F as string extends K ? never : K]: F[K] };

/** The struct of pods under another name and with some other fields. */
function withFields<F, const G extends Readonly<Record<string, s.Schema>>>(
  struct: s.StructNode & { readonly fields: F },
  name: string,
  fields: G,
) {
  const { numbers } = struct;
  return s.struct(
    name,
    { ...struct.fields, ...fields } as Omit<Named<F>, keyof G> & G & Record<never, s.Schema>,
    numbers === undefined ? {} : { numbers },
  );
}

const local = s.struct(
  'LocalVolumeSource',
  {
    path: must(s.string('Path of a directory or block device on the node.')),
    fsType: s.pointer(s.string('File system, where the path is a block device.')),
  },
  { numbers: [1, 2] },
);

const csi = s.struct(
  'CSIPersistentVolumeSource',
  {
    driver: must(s.string('Name of the driver.')),
    volumeHandle: must(s.string('Name of the volume in the driver.')),
    readOnly,
    fsType,
    volumeAttributes: s.map(s.string(), 'Settings for the driver.'),
    controllerPublishSecretRef: s.pointer(secretReference, 'Secret for attaching.'),
    nodeStageSecretRef: s.pointer(secretReference, 'Secret for preparing on the node.'),
    nodePublishSecretRef: s.pointer(secretReference, 'Secret for mounting.'),
    controllerExpandSecretRef: s.pointer(secretReference, 'Secret for expanding.'),
    nodeExpandSecretRef: s.pointer(secretReference, 'Secret for expanding on the node.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
);

const glusterfs = withFields(
  { ...plugins.glusterfs, numbers: [1, 2, 3, 4] },
  'GlusterfsPersistentVolumeSource',
  { endpointsNamespace: s.pointer(s.string('Namespace of the Endpoints object.')) },
);
const azureFile = withFields(
  { ...plugins.azureFile, numbers: [1, 2, 3, 4] },
  'AzureFilePersistentVolumeSource',
  { secretNamespace: s.pointer(s.string('Namespace of the Secret.')) },
);
const rbd = withFields(plugins.rbd, 'RBDPersistentVolumeSource', { secretRef });
const iscsi = withFields(plugins.iscsi, 'ISCSIPersistentVolumeSource', { secretRef });
const cinder = withFields(plugins.cinder, 'CinderPersistentVolumeSource', { secretRef });
const cephfs = withFields(plugins.cephfs, 'CephFSPersistentVolumeSource', { secretRef });
const flex = withFields(plugins.flexVolume, 'FlexPersistentVolumeSource', { secretRef });
const scaleIO = withFields(plugins.scaleIO, 'ScaleIOPersistentVolumeSource', {
  secretRef: s.required(secretRef),
  storageMode: s.string('Thick or thin.', { default: 'ThinProvisioned' }),
  fsType: s.string('File system of the volume.', { default: 'xfs' }),
});
const storageos = withFields(plugins.storageos, 'StorageOSPersistentVolumeSource', {
  secretRef: s.pointer(objectReference, 'Secret with the credentials.'),
});

export const volumeSources = {
  gcePersistentDisk: s.pointer(plugins.gcePersistentDisk, 'A disk of Google Compute Engine.'),
  awsElasticBlockStore: s.pointer(plugins.awsElasticBlockStore, 'A disk of AWS.'),
  hostPath: s.pointer(hostPath, 'A file or directory of the node.'),
  glusterfs: s.pointer(glusterfs, 'A GlusterFS volume.'),
  nfs: s.pointer(nfs, 'A directory of an NFS server.'),
  rbd: s.pointer(rbd, 'A Ceph block device.'),
  iscsi: s.pointer(iscsi, 'An iSCSI disk.'),
  cinder: s.pointer(cinder, 'An OpenStack volume.'),
  cephfs: s.pointer(cephfs, 'A Ceph file system.'),
  fc: s.pointer(plugins.fc, 'A Fibre Channel disk.'),
  flocker: s.pointer(plugins.flocker, 'A Flocker dataset.'),
  flexVolume: s.pointer(flex, 'A volume of an exec driver.'),
  azureFile: s.pointer(azureFile, 'An Azure file share.'),
  vsphereVolume: s.pointer(plugins.vsphereVolume, 'A vSphere disk.'),
  quobyte: s.pointer(plugins.quobyte, 'A Quobyte volume.'),
  azureDisk: s.pointer(plugins.azureDisk, 'An Azure disk.'),
  photonPersistentDisk: s.pointer(plugins.photonPersistentDisk, 'A Photon disk.'),
  portworxVolume: s.pointer(plugins.portworxVolume, 'A Portworx volume.'),
  scaleIO: s.pointer(scaleIO, 'A ScaleIO volume.'),
  local: s.pointer(local, 'A directory of one node.'),
  storageos: s.pointer(storageos, 'A StorageOS volume.'),
  csi: s.pointer(csi, 'A volume of a CSI driver.'),
} as const;

export type SourceName = keyof typeof volumeSources;
/** Upstream's order, in which they are checked and shown. */
export const sourceNames: readonly SourceName[] = [
  ...([
    'gcePersistentDisk',
    'awsElasticBlockStore',
    'hostPath',
    'glusterfs',
    'nfs',
    'rbd',
  ] as const),
  ...(['quobyte', 'iscsi', 'flexVolume', 'cinder', 'cephfs', 'fc', 'flocker'] as const),
  ...(['azureFile', 'vsphereVolume', 'azureDisk', 'photonPersistentDisk'] as const),
  ...(['portworxVolume', 'scaleIO', 'local', 'storageos', 'csi'] as const),
];

/** For the messages about a changed source. */
export const sourceStruct: s.StructNode = s.struct(
  'PersistentVolumeSource',
  Object.fromEntries(sourceNames.map((name) => [name, volumeSources[name]])),
);
