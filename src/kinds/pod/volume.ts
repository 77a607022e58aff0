// Volumes of a pod.
import { objectMeta } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { localObjectReference } from '../object-reference.ts';
import { persistentVolumeClaimSpec } from '../persistent-volume-claim/types.ts';
import {
  configMapVolume,
  downwardVolume,
  projectedVolume,
  secretVolume,
} from './projected-volume.ts';
import { must } from './references.ts';
import * as plugins from './volume-plugins.ts';

export const hostPath = s.struct(
  'HostPathVolumeSource',
  {
    path: must(s.string('Path on the node.')),
    type: s.pointer(s.string('What must be there; anything when empty.')),
  },
  { numbers: [1, 2] },
);

const emptyDir = s.struct(
  'EmptyDirVolumeSource',
  {
    medium: s.string('Memory, or the node’s disk when empty.'),
    sizeLimit: s.pointer(s.quantity('The most it may hold.')),
  },
  { numbers: [1, 2] },
);

export const nfs = s.struct(
  'NFSVolumeSource',
  {
    server: must(s.string('Host of the server.')),
    path: must(s.string('Path the server exports.')),
    readOnly: s.boolean('The volume cannot be written.'),
  },
  { numbers: [1, 2, 3] },
);

const persistentVolumeClaim = s.struct(
  'PersistentVolumeClaimVolumeSource',
  {
    claimName: must(s.string('Name of the claim.')),
    readOnly: s.boolean('The volume cannot be written.'),
  },
  { numbers: [1, 2] },
);

const csi = s.struct(
  'CSIVolumeSource',
  {
    driver: must(s.string('Name of the driver.')),
    readOnly: s.pointer(s.boolean('The volume cannot be written.')),
    fsType: s.pointer(s.string('File system of the volume.')),
    volumeAttributes: s.map(s.string(), 'Settings for the driver.'),
    nodePublishSecretRef: s.pointer(localObjectReference, 'Secret with the credentials.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

const ephemeral = s.struct(
  'EphemeralVolumeSource',
  {
    volumeClaimTemplate: s.pointer(
      s.struct(
        'PersistentVolumeClaimTemplate',
        {
          metadata: s.described(objectMeta, 'Labels and annotations of the claim.'),
          spec: must(s.described(persistentVolumeClaimSpec, 'What the claim asks for.')),
        },
        { numbers: [1, 2] },
      ),
      'The claim that is made for the pod.',
    ),
  },
  { numbers: [1] },
);

const image = s.struct(
  'ImageVolumeSource',
  {
    reference: s.string('Image whose files are mounted.'),
    pullPolicy: s.string('Always, Never or IfNotPresent.'),
  },
  { numbers: [1, 2] },
);

export const volume = s.struct(
  'Volume',
  {
    name: must(s.string('Name of the volume, a DNS label unique in the pod.')),
    hostPath: s.pointer(hostPath, 'A file or directory of the node.'),
    emptyDir: s.pointer(emptyDir, 'An empty directory that lives as long as the pod.'),
    gcePersistentDisk: s.pointer(plugins.gcePersistentDisk, 'A disk of Google Compute Engine.'),
    awsElasticBlockStore: s.pointer(plugins.awsElasticBlockStore, 'A disk of AWS.'),
    gitRepo: s.pointer(plugins.gitRepo, 'A clone of a git repository. Deprecated.'),
    secret: s.pointer(secretVolume, 'The keys of a Secret as files.'),
    nfs: s.pointer(nfs, 'A directory of an NFS server.'),
    iscsi: s.pointer(plugins.iscsi, 'An iSCSI disk.'),
    glusterfs: s.pointer(plugins.glusterfs, 'A GlusterFS volume.'),
    persistentVolumeClaim: s.pointer(persistentVolumeClaim, 'The volume bound to a claim.'),
    rbd: s.pointer(plugins.rbd, 'A Ceph block device.'),
    flexVolume: s.pointer(plugins.flexVolume, 'A volume of an exec driver.'),
    cinder: s.pointer(plugins.cinder, 'An OpenStack volume.'),
    cephfs: s.pointer(plugins.cephfs, 'A Ceph file system.'),
    flocker: s.pointer(plugins.flocker, 'A Flocker dataset.'),
    downwardAPI: s.pointer(downwardVolume, 'Facts about the pod as files.'),
    fc: s.pointer(plugins.fc, 'A Fibre Channel disk.'),
    azureFile: s.pointer(plugins.azureFile, 'An Azure file share.'),
    configMap: s.pointer(configMapVolume, 'The keys of a ConfigMap as files.'),
    vsphereVolume: s.pointer(plugins.vsphereVolume, 'A vSphere disk.'),
    quobyte: s.pointer(plugins.quobyte, 'A Quobyte volume.'),
    azureDisk: s.pointer(plugins.azureDisk, 'An Azure disk.'),
    photonPersistentDisk: s.pointer(plugins.photonPersistentDisk, 'A Photon disk.'),
    projected: s.pointer(projectedVolume, 'Several API objects as files of one directory.'),
    portworxVolume: s.pointer(plugins.portworxVolume, 'A Portworx volume.'),
    scaleIO: s.pointer(plugins.scaleIO, 'A ScaleIO volume.'),
    storageos: s.pointer(plugins.storageos, 'A StorageOS volume.'),
    csi: s.pointer(csi, 'A volume that a CSI driver makes for the pod.'),
    ephemeral: s.pointer(ephemeral, 'A volume whose claim lives as long as the pod.'),
    image: s.pointer(image, 'The files of an image.'),
  },
  {
    numbers: [
      1,
      ...s.within(
        2,
        [
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 26, 24,
          25, 27, 28, 29, 30,
        ],
      ),
    ],
  },
);
export type Volume = s.Static<typeof volume>;

/** A volume without its name: exactly one field is its type. */
export const volumeSources = Object.keys(volume.fields).filter(
  (field) => field !== 'name',
) as readonly Exclude<keyof Volume, 'name'>[];
