// Volume types of removed in-tree storage drivers, kept so that manifests can be read.
import * as s from '../../schema/node.ts';
import { localObjectReference } from '../object-reference.ts';
import { must } from './references.ts';

const fsType = s.string('File system of the volume.');
const readOnly = s.boolean('The volume cannot be written.');
const partition = s.int32('Partition to mount; the whole disk when 0.');
const secretRef = s.pointer(localObjectReference, 'Secret with the credentials.');
const strings = (description: string) => s.list(s.string(), description, { listType: 'atomic' });

export const gcePersistentDisk = s.struct(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: must(s.string('Name of the disk.')),
    fsType,
    partition,
    readOnly,
  },
  { numbers: [1, 2, 3, 4] },
);

export const awsElasticBlockStore = s.struct(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: must(s.string('Id of the disk.')),
    fsType,
    partition,
    readOnly,
  },
  { numbers: [1, 2, 3, 4] },
);

export const gitRepo = s.struct(
  'GitRepoVolumeSource',
  {
    repository: must(s.string('Address of the repository.')),
    revision: s.string('Commit to check out.'),
    directory: s.string('Directory for the clone.'),
  },
  { numbers: [1, 2, 3] },
);

export const iscsi = s.struct(
  'ISCSIVolumeSource',
  {
    targetPortal: must(s.string('Address and port of the target.')),
    iqn: must(s.string('Qualified name of the target.')),
    lun: must(s.int32('Unit number.')),
    iscsiInterface: s.string('Interface name.', { default: 'default' }),
    fsType,
    readOnly,
    portals: strings('More portals of the target.'),
    chapAuthDiscovery: s.boolean('Discovery uses CHAP.'),
    chapAuthSession: s.boolean('Sessions use CHAP.'),
    secretRef,
    initiatorName: s.pointer(s.string('Name of the initiator.')),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 11, 10, 12] },
);

export const glusterfs = s.struct(
  'GlusterfsVolumeSource',
  {
    endpoints: must(s.string('Endpoints object of the cluster.')),
    path: must(s.string('Name of the volume.')),
    readOnly,
  },
  { numbers: [1, 2, 3] },
);

export const rbd = s.struct(
  'RBDVolumeSource',
  {
    monitors: must(strings('Ceph monitors.')),
    image: must(s.string('Name of the image.')),
    fsType,
    pool: s.string('Pool of the image.', { default: 'rbd' }),
    user: s.string('User.', { default: 'admin' }),
    keyring: s.string('Path of the key ring.', { default: '/etc/ceph/keyring' }),
    secretRef,
    readOnly,
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8] },
);

export const flexVolume = s.struct(
  'FlexVolumeSource',
  {
    driver: must(s.string('Name of the driver.')),
    fsType,
    secretRef,
    readOnly,
    options: s.map(s.string(), 'Options for the driver.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

export const cinder = s.struct(
  'CinderVolumeSource',
  {
    volumeID: must(s.string('Id of the volume.')),
    fsType,
    readOnly,
    secretRef,
  },
  { numbers: [1, 2, 3, 4] },
);

export const cephfs = s.struct(
  'CephFSVolumeSource',
  {
    monitors: must(strings('Ceph monitors.')),
    path: s.string('Directory to mount.'),
    user: s.string('User.'),
    secretFile: s.string('Path of the key ring.'),
    secretRef,
    readOnly,
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);

export const flocker = s.struct(
  'FlockerVolumeSource',
  {
    datasetName: s.string('Name of the dataset.'),
    datasetUUID: s.string('Id of the dataset.'),
  },
  { numbers: [1, 2] },
);

export const fc = s.struct(
  'FCVolumeSource',
  {
    targetWWNs: strings('World wide names of the targets.'),
    lun: s.pointer(s.int32('Unit number.')),
    fsType,
    readOnly,
    wwids: strings('World wide ids of the volume.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

export const azureFile = s.struct(
  'AzureFileVolumeSource',
  {
    secretName: must(s.string('Secret with account name and key.')),
    shareName: must(s.string('Name of the share.')),
    readOnly,
  },
  { numbers: [1, 2, 3] },
);

export const azureDisk = s.struct(
  'AzureDiskVolumeSource',
  {
    diskName: must(s.string('Name of the disk.')),
    diskURI: must(s.string('Address of the disk.')),
    cachingMode: s.pointer(s.string('None, ReadOnly or ReadWrite.', { default: 'ReadWrite' })),
    fsType: s.pointer(s.string('File system of the volume.', { default: 'ext4' })),
    readOnly: s.pointer(s.boolean('The volume cannot be written.', { default: false })),
    kind: s.pointer(s.string('Shared, Dedicated or Managed.', { default: 'Shared' })),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);

export const vsphereVolume = s.struct(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: must(s.string('Path of the virtual disk.')),
    fsType,
    storagePolicyName: s.string('Name of the storage policy.'),
    storagePolicyID: s.string('Id of the storage policy.'),
  },
  { numbers: [1, 2, 3, 4] },
);

export const quobyte = s.struct(
  'QuobyteVolumeSource',
  {
    registry: must(s.string('Registry services, host:port separated by commas.')),
    volume: must(s.string('Name of the volume.')),
    readOnly,
    user: s.string('User.'),
    group: s.string('Group.'),
    tenant: s.string('Tenant.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);

export const photonPersistentDisk = s.struct(
  'PhotonPersistentDiskVolumeSource',
  {
    pdID: must(s.string('Id of the disk.')),
    fsType,
  },
  { numbers: [1, 2] },
);

export const portworxVolume = s.struct(
  'PortworxVolumeSource',
  {
    volumeID: must(s.string('Id of the volume.')),
    fsType,
    readOnly,
  },
  { numbers: [1, 2, 3] },
);

export const scaleIO = s.struct(
  'ScaleIOVolumeSource',
  {
    gateway: must(s.string('Address of the gateway.')),
    system: must(s.string('Name of the storage system.')),
    secretRef: s.required(secretRef),
    sslEnabled: s.boolean('Talks TLS to the gateway.'),
    protectionDomain: s.string('Protection domain.'),
    storagePool: s.string('Storage pool.'),
    storageMode: s.string('Thick or thin.', { default: 'ThinProvisioned' }),
    volumeName: s.string('Name of the volume.'),
    fsType: s.string('File system of the volume.', { default: 'xfs' }),
    readOnly,
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
);

export const storageos = s.struct(
  'StorageOSVolumeSource',
  {
    volumeName: s.string('Name of the volume.'),
    volumeNamespace: s.string('Scope of the name.'),
    fsType,
    readOnly,
    secretRef,
  },
  { numbers: [1, 2, 3, 4, 5] },
);
