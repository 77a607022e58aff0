// Volumes: names, and the rules of the common types. Types of removed storage drivers are accepted unchecked.
import { validateAnnotations } from '../../meta/annotations.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
} from '../../meta/field-error.ts';
import { validateLabels } from '../../meta/labels.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { validateClaimSpec } from '../persistent-volume-claim/validate.ts';
import { validateChoice, validateDnsLabel, validateFilled } from './field-rules.ts';
import type { DownwardFile, KeyToPath, VolumeProjection } from './projected-volume.ts';
import { validateFieldRef, validateResourceFieldRef } from './validate-environment.ts';
import type { Volume } from './volume.ts';

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const downwardFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const modeRange = 'must be a number between 0 and 0777 (octal), both inclusive';

export type CheckedVolumes = {
  readonly errors: readonly FieldError[];
  /** Valid volumes, which containers may mount. */
  readonly byName: ReadonlyMap<string, Volume>;
};

export function validateVolumes(volumes: readonly Volume[], field: string): CheckedVolumes {
  const byName = new Map<string, Volume>();
  const errors: FieldError[] = [];
  for (const [index, volume] of volumes.entries()) {
    const at = `${field}[${index}]`;
    const wrong = [
      ...validateSources(volume, at),
      ...validateDnsLabel(`${at}.name`, volume.name),
      ...(byName.has(volume.name) ? [duplicate(`${at}.name`, volume.name)] : []),
    ];
    if (wrong.length === 0) byName.set(volume.name, volume);
    errors.push(...wrong);
  }
  return { errors, byName };
}

function validateSources(volume: Volume, field: string): readonly FieldError[] {
  const sources = givenSources(volume);
  const [first, ...others] = sources;
  if (first === undefined) return [required(field, 'must specify a volume type')];
  return [
    ...(sourceRules[first]?.(volume, `${field}.${first}`) ?? []),
    ...others.map((other) =>
      forbidden(
        `${field}.${sourceSpellings[other] ?? other}`,
        'may not specify more than 1 volume type',
      ),
    ),
  ];
}

/** In the order below. Iterates the fields of the volume, which has one type out of thirty. */
function givenSources(volume: Volume): readonly (keyof Volume)[] {
  const sources: (keyof Volume)[] = [];
  for (const name in volume) {
    const source = name as keyof Volume;
    if (source !== 'name' && volume[source] !== undefined) sources.push(source);
  }
  return sources.length < 2 ? sources : sourceOrder.filter((source) => sources.includes(source));
}

/** Upstream's order of checks; of two types, the later is reported. */
const sourceOrder: readonly (keyof Volume)[] = [
  ...(['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore'] as const),
  ...(['secret', 'nfs', 'iscsi', 'glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd'] as const),
  ...(['cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc', 'flexVolume', 'configMap'] as const),
  ...(['azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume'] as const),
  ...(['azureDisk', 'storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'] as const),
];

/** Upstream's spelling in the message for several types. */
const sourceSpellings: Partial<Record<keyof Volume, string>> = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
};

type SourceRule = (volume: Volume, field: string) => readonly FieldError[];

const sourceRules: Partial<Record<keyof Volume, SourceRule>> = {
  hostPath: ({ hostPath }, field) =>
    hostPath === undefined ? [] : validateHostPath(hostPath, field),
  emptyDir: ({ emptyDir }, field) =>
    emptyDir?.sizeLimit !== undefined && compareQuantities(emptyDir.sizeLimit, '0') < 0
      ? [forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  secret: ({ secret }, field) => [
    ...validateFilled(`${field}.secretName`, secret?.secretName),
    ...validateMode(secret?.defaultMode, `${field}.defaultMode`),
    ...validateItems(secret?.items, `${field}.items`),
  ],
  configMap: ({ configMap }, field) => [
    ...validateFilled(`${field}.name`, configMap?.name),
    ...validateMode(configMap?.defaultMode, `${field}.defaultMode`),
    ...validateItems(configMap?.items, `${field}.items`),
  ],
  nfs: ({ nfs }, field) => (nfs === undefined ? [] : validateNfs(nfs, field)),
  persistentVolumeClaim: ({ persistentVolumeClaim }, field) =>
    validateFilled(`${field}.claimName`, persistentVolumeClaim?.claimName),
  downwardAPI: ({ downwardAPI }, field) => [
    ...validateMode(downwardAPI?.defaultMode, `${field}.defaultMode`),
    ...validateFiles(downwardAPI?.items, field),
  ],
  projected: ({ projected }, field) => [
    ...validateMode(projected?.defaultMode, `${field}.defaultMode`),
    ...(projected?.sources ?? []).flatMap((source, index) =>
      validateProjection(source, `${field}.sources[${index}]`),
    ),
  ],
  csi: ({ csi }, field) => validateFilled(`${field}.driver`, csi?.driver),
  ephemeral: ({ ephemeral }, field) => {
    const template = ephemeral?.volumeClaimTemplate;
    const at = `${field}.volumeClaimTemplate`;
    return template === undefined
      ? [required(at)]
      : [
          ...validateTemplateMetadata(template.metadata, `${at}.metadata`),
          ...validateClaimSpec(template.spec, `${at}.spec`),
        ];
  },
};

/** Also of volumes outside pods. */
export function validateHostPath(
  { path, type }: NonNullable<Volume['hostPath']>,
  field: string,
): readonly FieldError[] {
  return [
    ...(path === '' ? [required(`${field}.path`)] : validateBackSteps(path, `${field}.path`)),
    ...(type ? validateChoice(`${field}.type`, type, hostPathTypes) : []),
  ];
}

/** Also of volumes outside pods. */
export function validateNfs(
  { server, path }: NonNullable<Volume['nfs']>,
  field: string,
): readonly FieldError[] {
  return [
    ...validateFilled(`${field}.server`, server),
    ...validateFilled(`${field}.path`, path),
    ...(path !== '' && !path.startsWith('/')
      ? [invalid(`${field}.path`, path, 'must be an absolute path')]
      : []),
  ];
}

/** A claim that is made for a pod gets its name from the pod; only labels and annotations are the template's. */
function validateTemplateMetadata(metadata: ObjectMeta, field: string): readonly FieldError[] {
  const { labels, annotations, ...others } = metadata;
  return [
    ...validateAnnotations(annotations, `${field}.annotations`),
    ...validateLabels(labels, `${field}.labels`),
    ...Object.keys(others).map((name) =>
      forbidden(`${field}.${name.charAt(0).toUpperCase()}${name.slice(1)}`, 'cannot be set'),
    ),
  ];
}

function validateProjection(source: VolumeProjection, field: string): readonly FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  const sources = Object.keys(source);
  const [, ...others] = sources;
  return [
    ...(sources.length === 0 ? [required(field, 'must specify a volume source')] : []),
    ...(secret === undefined
      ? []
      : [
          ...validateFilled(`${field}.secret.name`, secret.name),
          ...validateItems(secret.items, `${field}.secret.items`),
        ]),
    ...(configMap === undefined
      ? []
      : [
          ...validateFilled(`${field}.configMap.name`, configMap.name),
          ...validateItems(configMap.items, `${field}.configMap.items`),
        ]),
    ...(downwardAPI === undefined ? [] : validateFiles(downwardAPI.items, `${field}.downwardAPI`)),
    ...(serviceAccountToken === undefined
      ? []
      : validateFilled(`${field}.serviceAccountToken.path`, serviceAccountToken.path)),
    ...others.map((name) =>
      forbidden(`${field}.${name}`, 'may not specify more than 1 volume type'),
    ),
  ];
}

function validateItems(items: readonly KeyToPath[] = [], field: string): readonly FieldError[] {
  return items.flatMap((item, index) => [
    ...validateFilled(`${field}[${index}].key`, item.key),
    ...validateOwnPath(item.path, `${field}[${index}].path`),
    ...validateMode(item.mode, `${field}[${index}].mode`),
  ]);
}

function validateFiles(files: readonly DownwardFile[] = [], field: string): readonly FieldError[] {
  return files.flatMap((file) => [
    ...validateOwnPath(file.path, `${field}.path`),
    ...validateFileSource(file, field),
    ...validateMode(file.mode, `${field}.mode`),
  ]);
}

function validateFileSource(file: DownwardFile, field: string): readonly FieldError[] {
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    const both = 'fieldRef and resourceFieldRef can not be specified simultaneously';
    return [
      ...validateFieldRef(fieldRef, downwardFields, `${field}.fieldRef`),
      ...(resourceFieldRef === undefined ? [] : [invalid(field, 'resource', both)]),
    ];
  }
  return resourceFieldRef === undefined
    ? [required(field, 'one of fieldRef and resourceFieldRef is required')]
    : validateResourceFieldRef(resourceFieldRef, true, `${field}.resourceFieldRef`);
}

/** A file path in a volume; names that begin with two dots are reserved. */
function validateOwnPath(path: string, field: string): readonly FieldError[] {
  const isReserved = path.startsWith('..') && path !== '..' && !path.startsWith('../');
  return [
    ...validateLocalPath(path, field),
    ...(isReserved ? [invalid(field, path, "must not start with '..'")] : []),
  ];
}

/** A relative path without `..`. */
export function validateLocalPath(path: string, field: string): readonly FieldError[] {
  if (path === '') return [required(field)];
  return [
    ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
    ...validateBackSteps(path, field),
  ];
}

/** No step of the path is `..`. */
export function validateBackSteps(path: string, field: string): readonly FieldError[] {
  return path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];
}

function validateMode(mode: number | undefined, field: string): readonly FieldError[] {
  return mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [invalid(field, mode, modeRange)];
}
