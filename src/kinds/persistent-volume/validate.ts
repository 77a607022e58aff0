import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import {
  archLabel,
  betaArchLabel,
  betaInstanceTypeLabel,
  betaOsLabel,
  betaRegionLabel,
  betaZoneLabel,
  instanceTypeLabel,
  osLabel,
  regionLabel,
  zoneLabel,
} from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { immutableField } from '../immutable-field.ts';
import { validateAccessModes } from '../persistent-volume-claim/access-modes.ts';
import { validateClassName, volumeModes } from '../persistent-volume-claim/validate.ts';
import { validateSizes } from '../persistent-volume-claim/validate-status.ts';
import type { NodeSelectorTerm } from '../pod/affinity.ts';
import { validateFilled } from '../pod/field-rules.ts';
import { structDiff } from '../pod/internal-form.ts';
import type { ResourceList } from '../pod/resources.ts';
import { validateNodeSelector } from '../pod/validate-scheduling.ts';
import { validateBackSteps, validateHostPath, validateNfs } from '../pod/validate-volumes.ts';
import { type SourceName, sourceNames, sourceStruct } from './sources.ts';
import type { PersistentVolume, PersistentVolumeSpec } from './types.ts';

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

export function validateVolume({ spec }: PersistentVolume): readonly FieldError[] {
  const { accessModes = [], capacity = {}, persistentVolumeReclaimPolicy: policy = '' } = spec;
  const { nodeAffinity, storageClassName, volumeMode } = spec;
  return [
    ...validateAccessModes(accessModes, 'spec.accessModes', ''),
    ...validateCapacity(capacity, 'spec.capacity'),
    ...(policy === '' || reclaimPolicies.includes(policy)
      ? []
      : [notSupported('spec.persistentVolumeReclaimPolicy', policy, reclaimPolicies)]),
    ...(nodeAffinity === undefined
      ? []
      : nodeAffinity.required === undefined
        ? [required('spec.nodeAffinity.required', 'must specify required node constraints')]
        : validateNodeSelector(nodeAffinity.required, 'spec.nodeAffinity.required')),
    ...validateSources(spec, 'spec'),
    ...(policy === 'Recycle' && isRoot(spec.hostPath?.path)
      ? [
          forbidden(
            'spec.persistentVolumeReclaimPolicy',
            "may not be 'recycle' for a hostPath mount of '/'",
          ),
        ]
      : []),
    ...validateClassName(storageClassName, 'spec.storageClassName'),
    ...(volumeMode === undefined || volumeModes.includes(volumeMode)
      ? []
      : [notSupported('spec.volumeMode', volumeMode, volumeModes)]),
    ...validateAttributesClass(spec, 'spec'),
  ];
}

/** `/`, `//`, `/.`: steps back are refused elsewhere. */
const isRoot = (path = ''): boolean =>
  path.startsWith('/') && path.split('/').every((step) => step === '' || step === '.');

function validateCapacity(capacity: ResourceList, field: string): readonly FieldError[] {
  const names = Object.keys(capacity);
  const isStorageOnly = names.length === 1 && names[0] === 'storage';
  return [
    ...(names.length === 0 ? [required(field)] : []),
    ...(isStorageOnly ? [] : [notSupported(field, capacity, ['storage'])]),
    ...validateSizes(capacity, field),
    ...names.flatMap((name) =>
      compareQuantities(capacity[name] ?? '0', '0') > 0
        ? []
        : [invalid(`${field}[${name}]`, capacity[name], 'must be greater than zero')],
    ),
  ];
}

/** In upstream's order of checks. */
const checkedOrder: readonly SourceName[] = [
  'hostPath',
  ...sourceNames.filter((name) => name !== 'hostPath'),
];

function validateSources(spec: PersistentVolumeSpec, field: string): readonly FieldError[] {
  const [first, ...others] = checkedOrder.filter((name) => spec[name] !== undefined);
  if (first === undefined) return [required(field, 'must specify a volume type')];
  return [
    ...(sourceRules[first]?.(spec, `${field}.${first}`) ?? []),
    ...others.map((name) =>
      forbidden(`${field}.${name}`, 'may not specify more than 1 volume type'),
    ),
  ];
}

type SourceRule = (spec: PersistentVolumeSpec, field: string) => readonly FieldError[];

const sourceRules: Partial<Record<SourceName, SourceRule>> = {
  hostPath: ({ hostPath }, field) =>
    hostPath === undefined ? [] : validateHostPath(hostPath, field),
  nfs: ({ nfs }, field) => (nfs === undefined ? [] : validateNfs(nfs, field)),
  local: ({ local, nodeAffinity }, field) => [
    ...validateFilled(`${field}.path`, local?.path),
    ...(local?.path ? validateBackSteps(local.path, `${field}.path`) : []),
    ...(nodeAffinity === undefined
      ? [required('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
  ],
  csi: ({ csi }, field) => [
    ...validateFilled(`${field}.driver`, csi?.driver),
    ...validateFilled(`${field}.volumeHandle`, csi?.volumeHandle),
  ],
};

function validateAttributesClass(
  { volumeAttributesClassName: name, csi }: PersistentVolumeSpec,
  field: string,
): readonly FieldError[] {
  if (name === undefined) return [];
  const at = `${field}.volumeAttributesClassName`;
  return [
    ...(name === ''
      ? [required(at, 'an empty string is disallowed')]
      : validateClassName(name, at)),
    ...(csi === undefined
      ? [required(`${field}.csi`, 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}

const sourceField = 'spec.persistentvolumesource';

export function validateVolumeUpdate(
  before: PersistentVolume,
  after: PersistentVolume,
): readonly FieldError[] {
  const [was, is] = [sourceOf(before.spec, after.spec), sourceOf(after.spec)];
  const affinity = before.spec.nodeAffinity;
  return [
    ...validateVolume(after),
    ...(deepEqual(was, is)
      ? []
      : [
          forbidden(
            sourceField,
            `${sourceField} is immutable after creation\n${structDiff(sourceStruct, was, is)}`,
          ),
        ]),
    ...immutableField({
      field: 'volumeMode',
      before: before.spec.volumeMode,
      after: after.spec.volumeMode,
    }),
    ...(affinity === undefined || isRenamed(affinity, after.spec.nodeAffinity)
      ? []
      : immutableField({
          field: 'nodeAffinity',
          before: affinity,
          after: after.spec.nodeAffinity,
        })),
  ];
}

/** A secret for expansions may be added later. */
function sourceOf(spec: PersistentVolumeSpec, later?: PersistentVolumeSpec): object {
  const entries = sourceNames.flatMap((name) =>
    spec[name] === undefined ? [] : [[name, spec[name]] as const],
  );
  const source = Object.fromEntries(entries);
  const added = later?.csi?.controllerExpandSecretRef;
  if (spec.csi === undefined || spec.csi.controllerExpandSecretRef || added === undefined)
    return source;
  return { ...source, csi: { ...spec.csi, controllerExpandSecretRef: added } };
}

const currentNames: ReadonlyMap<string, string> = new Map([
  [betaArchLabel, archLabel],
  [betaOsLabel, osLabel],
  [betaZoneLabel, zoneLabel],
  [betaRegionLabel, regionLabel],
  [betaInstanceTypeLabel, instanceTypeLabel],
]);

type Affinity = NonNullable<PersistentVolumeSpec['nodeAffinity']>;

/** Labels that got another name may be renamed. */
function isRenamed(before: Affinity, after: Affinity | undefined): boolean {
  const renamed = (term: NodeSelectorTerm): NodeSelectorTerm => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((one) => ({
        ...one,
        key: currentNames.get(one.key) ?? one.key,
      })),
    }),
  });
  const terms = (affinity: Affinity | undefined) => affinity?.required?.nodeSelectorTerms ?? [];
  return (
    terms(before).length === terms(after).length &&
    terms(before).every((term, index) => {
      const now = terms(after)[index];
      return deepEqual(term, now) || deepEqual(renamed(term), now);
    })
  );
}
