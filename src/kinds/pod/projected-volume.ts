// Projected volumes and their sources.
import { labelSelector } from '../../meta/labels.ts';
import * as s from '../../schema/node.ts';
import { objectFieldSelector, resourceFieldSelector } from './environment.ts';
import { must } from './references.ts';

const keyToPath = s.struct(
  'KeyToPath',
  {
    key: must(s.string('Key in the object.')),
    path: must(s.string('Relative path of the file.')),
    mode: s.pointer(s.int32('Permission bits of the file.')),
  },
  { numbers: [1, 2, 3] },
);
export type KeyToPath = s.Static<typeof keyToPath>;

const defaultMode = s.pointer(
  s.int32('Permission bits of files that say nothing; 0644 when absent.'),
);
const items = s.list(keyToPath, 'Which keys become files, and where; all when empty.', {
  listType: 'atomic',
});
const optional = s.pointer(s.boolean('The volume works even if the object or a key is missing.'));
const name = s.string('Name of the object, in the namespace of the pod.', { default: '' });

export const secretVolume = s.struct(
  'SecretVolumeSource',
  {
    secretName: s.string('Name of the Secret.'),
    items,
    defaultMode,
    optional,
  },
  { numbers: [1, 2, 3, 4] },
);

export const configMapVolume = s.struct(
  'ConfigMapVolumeSource',
  {
    name,
    items,
    defaultMode,
    optional,
  },
  { numbers: [[1, 1], 2, 3, 4] },
);

const downwardFile = s.struct(
  'DownwardAPIVolumeFile',
  {
    path: must(s.string('Relative path of the file.')),
    fieldRef: s.pointer(objectFieldSelector, 'A field of the pod.'),
    resourceFieldRef: s.pointer(resourceFieldSelector, 'An amount requested or allowed.'),
    mode: s.pointer(s.int32('Permission bits of the file.')),
  },
  { numbers: [1, 2, 3, 4] },
);
export type DownwardFile = s.Static<typeof downwardFile>;

const downwardItems = s.list(downwardFile, 'The files.', { listType: 'atomic' });

export const downwardVolume = s.struct(
  'DownwardAPIVolumeSource',
  {
    items: downwardItems,
    defaultMode,
  },
  { numbers: [1, 2] },
);

const serviceAccountToken = s.struct(
  'ServiceAccountTokenProjection',
  {
    audience: s.string('Whom the token is for; the API server when empty.'),
    expirationSeconds: s.pointer(s.int64('How long the token is good; an hour when absent.')),
    path: must(s.string('Relative path of the file.')),
  },
  { numbers: [1, 2, 3] },
);

const clusterTrustBundle = s.struct(
  'ClusterTrustBundleProjection',
  {
    name: s.pointer(s.string('One bundle by name.')),
    signerName: s.pointer(s.string('All bundles of a signer.')),
    labelSelector: s.pointer(labelSelector, 'Which bundles of the signer.'),
    optional: s.pointer(s.boolean('The volume works even if no bundle is there.')),
    path: must(s.string('Relative path of the file.')),
  },
  { numbers: [1, 2, 3, 5, 4] },
);

const podCertificate = s.struct(
  'PodCertificateProjection',
  {
    signerName: s.required(s.string('Who signs the certificate.')),
    keyType: s.required(s.string('Kind of the key pair.')),
    maxExpirationSeconds: s.pointer(s.int32('Longest life of the certificate.')),
    credentialBundlePath: s.string('Relative path of a file with key and chain.'),
    keyPath: s.string('Relative path of a file with the key.'),
    certificateChainPath: s.string('Relative path of a file with the chain.'),
    userAnnotations: s.map(s.string(), 'Options passed to the signer.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7] },
);

const volumeProjection = s.struct(
  'VolumeProjection',
  {
    secret: s.pointer(
      s.struct('SecretProjection', { name, items, optional }, { numbers: [[1, 1], 2, 4] }),
      'From a Secret.',
    ),
    downwardAPI: s.pointer(
      s.struct('DownwardAPIProjection', { items: downwardItems }, { numbers: [1] }),
      'From the pod itself.',
    ),
    configMap: s.pointer(
      s.struct('ConfigMapProjection', { name, items, optional }, { numbers: [[1, 1], 2, 4] }),
      'From a ConfigMap.',
    ),
    serviceAccountToken: s.pointer(serviceAccountToken, 'A token of the service account.'),
    clusterTrustBundle: s.pointer(clusterTrustBundle, 'Trusted certificates of the cluster.'),
    podCertificate: s.pointer(podCertificate, 'A key and certificate made for the pod.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type VolumeProjection = s.Static<typeof volumeProjection>;

export const projectedVolume = s.struct(
  'ProjectedVolumeSource',
  {
    sources: s.always(
      s.list(volumeProjection, 'What the files are made from.', { listType: 'atomic' }),
    ),
    defaultMode,
  },
  { numbers: [1, 2] },
);
