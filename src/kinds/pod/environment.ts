// Environment variables and their sources.
import * as s from '../../schema/node.ts';
import { must } from './references.ts';

export const objectFieldSelector = s.struct(
  'ObjectFieldSelector',
  {
    apiVersion: s.string('Version in which the path is written; v1 when empty.'),
    fieldPath: must(s.string('Path of the field in the pod.')),
  },
  { mapType: 'atomic', numbers: [1, 2] },
);
export type ObjectFieldSelector = s.Static<typeof objectFieldSelector>;

export const resourceFieldSelector = s.struct(
  'ResourceFieldSelector',
  {
    containerName: s.string('The container; needed in volumes.'),
    resource: must(s.string('The amount to show, such as limits.cpu.')),
    divisor: s.always(s.quantity('Unit in which the amount is shown; 1 when zero.')),
  },
  { mapType: 'atomic', numbers: [1, 2, 3] },
);
export type ResourceFieldSelector = s.Static<typeof resourceFieldSelector>;

const keySelectorFields = {
  name: s.string('Name of the object, in the namespace of the pod.', { default: '' }),
  key: must(s.string('Key in the object.')),
  optional: s.pointer(s.boolean('The container starts even if object or key is missing.')),
} as const;

const configMapKeySelector = s.struct('ConfigMapKeySelector', keySelectorFields, {
  mapType: 'atomic',
  numbers: [[1, 1], 2, 3],
});
const secretKeySelector = s.struct('SecretKeySelector', keySelectorFields, {
  mapType: 'atomic',
  numbers: [[1, 1], 2, 3],
});
export type KeySelector = s.Static<typeof configMapKeySelector>;

const fileKeySelector = s.struct(
  'FileKeySelector',
  {
    volumeName: must(s.string('The volume that holds the file.')),
    path: must(s.string('Path of the file in the volume.')),
    key: must(s.string('Key in the file.')),
    optional: s.pointer(s.boolean('The container starts even if file or key is missing.')),
  },
  { mapType: 'atomic', numbers: [1, 2, 3, 4] },
);
export type FileKeySelector = s.Static<typeof fileKeySelector>;

const envVarSource = s.struct(
  'EnvVarSource',
  {
    fieldRef: s.pointer(objectFieldSelector, 'A field of the pod.'),
    resourceFieldRef: s.pointer(resourceFieldSelector, 'An amount requested or allowed.'),
    configMapKeyRef: s.pointer(configMapKeySelector, 'A key of a ConfigMap.'),
    secretKeyRef: s.pointer(secretKeySelector, 'A key of a Secret.'),
    fileKeyRef: s.pointer(fileKeySelector, 'A key of a file in an emptyDir volume.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type EnvVarSource = s.Static<typeof envVarSource>;

export const envVar = s.struct(
  'EnvVar',
  {
    name: must(s.string('Name of the variable.')),
    value: s.string('Its value; $(NAME) stands for an earlier variable.'),
    valueFrom: s.pointer(envVarSource, 'Where the value comes from, instead of value.'),
  },
  { numbers: [1, 2, 3] },
);
export type EnvVar = s.Static<typeof envVar>;

const envSourceFields = {
  name: s.string('Name of the object, in the namespace of the pod.', { default: '' }),
  optional: s.pointer(s.boolean('The container starts even if the object is missing.')),
} as const;

export const envFromSource = s.struct(
  'EnvFromSource',
  {
    prefix: s.string('Text put before each key.'),
    configMapRef: s.pointer(
      s.struct('ConfigMapEnvSource', envSourceFields, { numbers: [[1, 1], 2] }),
      'All keys of a ConfigMap.',
    ),
    secretRef: s.pointer(
      s.struct('SecretEnvSource', envSourceFields, { numbers: [[1, 1], 2] }),
      'All keys of a Secret.',
    ),
  },
  { numbers: [1, 2, 3] },
);
export type EnvFromSource = s.Static<typeof envFromSource>;
