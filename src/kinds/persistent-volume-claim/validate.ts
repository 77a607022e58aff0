import { type FieldError, forbidden, invalid, required } from '../../meta/field-error.ts';
import { validateLabelSelector } from '../../meta/labels.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import { deepEqual } from '../../schema/equality.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { immutableField } from '../immutable-field.ts';
import { invalidEach, validateOptionalChoice } from '../pod/field-rules.ts';
import { structDiff } from '../pod/internal-form.ts';
import { validateAccessModes } from './access-modes.ts';
import {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  persistentVolumeClaimSpec,
} from './types.ts';

export const volumeModes = ['Block', 'Filesystem'];

export const validateClaim = ({ spec }: PersistentVolumeClaim): readonly FieldError[] =>
  validateClaimSpec(spec, 'spec');

export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  field: string,
): readonly FieldError[] {
  const { accessModes = [], selector, resources, storageClassName, volumeMode } = spec;
  return [
    ...validateAccessModes(
      accessModes,
      `${field}.accessModes`,
      'at least 1 access mode is required',
    ),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${field}.selector`)),
    ...validateSize(resources.requests?.storage, `${field}.resources[storage]`),
    ...validateClassName(storageClassName, `${field}.storageClassName`),
    ...(volumeMode === undefined
      ? []
      : validateOptionalChoice(`${field}.volumeMode`, volumeMode, volumeModes)),
    ...validateSources(spec, field),
    ...validateClassName(spec.volumeAttributesClassName, `${field}.volumeAttributesClassName`),
  ];
}

function validateSize(size: string | undefined, field: string): readonly FieldError[] {
  if (size === undefined) return [required(field)];
  return compareQuantities(size, '0') > 0
    ? []
    : [invalid(field, size, 'must be greater than zero')];
}

/** Of a storage class; absent and empty are allowed. */
export const validateClassName = (
  name: string | undefined,
  field: string,
): readonly FieldError[] => (name ? invalidEach(field, name, dns1123Subdomain(name)) : []);

type Source = NonNullable<PersistentVolumeClaimSpec['dataSourceRef']>;

function validateSources(spec: PersistentVolumeClaimSpec, field: string): readonly FieldError[] {
  const { dataSource, dataSourceRef } = spec;
  const both = dataSource !== undefined && dataSourceRef !== undefined;
  // The value in these messages is a path, as upstream.
  const conflict = (detail: string) => invalid(field, `${field}.dataSource`, detail);
  return [
    ...(dataSource === undefined ? [] : validateSource(dataSource, `${field}.dataSource`)),
    ...(dataSourceRef === undefined ? [] : validateSource(dataSourceRef, `${field}.dataSourceRef`)),
    ...(both && dataSourceRef.namespace
      ? [conflict('may not be specified when dataSourceRef.namespace is specified')]
      : both && !isSameSource(dataSource, dataSourceRef)
        ? [conflict('must match dataSourceRef')]
        : []),
  ];
}

const isSameSource = (a: Omit<Source, 'namespace'>, b: Source): boolean =>
  a.kind === b.kind && a.name === b.name && a.apiGroup === b.apiGroup;

function validateSource(
  { apiGroup = '', kind, name }: Source,
  field: string,
): readonly FieldError[] {
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(kind === '' ? [required(`${field}.kind`)] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [
          invalid(
            field,
            kind,
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
          ),
        ]
      : []),
    ...(apiGroup === ''
      ? []
      : invalidEach(`${field}.apiGroup`, apiGroup, dns1123Subdomain(apiGroup))),
  ];
}

const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Claims cannot change, so that quotas and limits hold; but they get a volume once, and bound ones may grow. */
export function validateClaimUpdate(
  before: PersistentVolumeClaim,
  after: PersistentVolumeClaim,
): readonly FieldError[] {
  const fixed = expectedSpec(before, after);
  return [
    ...validateClaim(after),
    ...immutableField({
      field: `metadata.annotations.${betaStorageClassAnnotation}`,
      before: before.metadata.annotations?.[betaStorageClassAnnotation] ?? '',
      after: after.metadata.annotations?.[betaStorageClassAnnotation] ?? '',
    }),
    ...(deepEqual(fixed.before, fixed.after)
      ? []
      : [
          forbidden(
            'spec',
            `${immutableSpec}\n${structDiff(persistentVolumeClaimSpec, fixed.before, fixed.after)}`,
          ),
        ]),
    ...validateShrinking(before, after),
    ...immutableField({
      field: 'volumeMode',
      before: before.spec.volumeMode,
      after: after.spec.volumeMode,
    }),
    ...validateAttributesClass(before.spec, after.spec),
  ];
}

/** Both specs without the changes that are allowed. */
function expectedSpec(before: PersistentVolumeClaim, after: PersistentVolumeClaim) {
  const { volumeName: _name, ...unbound } = before.spec;
  const { volumeName } = after.spec;
  const bound = before.spec.volumeName || volumeName === undefined;
  const old = bound ? before.spec : { ...unbound, volumeName };
  const { volumeAttributesClassName: _class, ...others } = after.spec;
  const attributes = before.spec.volumeAttributesClassName;
  let spec: PersistentVolumeClaimSpec =
    attributes === undefined ? others : { ...others, volumeAttributesClassName: attributes };
  if (takesDefaultClass(before, after) && before.spec.storageClassName === undefined) {
    const { storageClassName: _default, ...unclassed } = spec;
    spec = unclassed;
  }
  const storage = before.spec.resources.requests?.storage;
  if (after.status.phase === 'Bound' && spec.resources.requests !== undefined && storage) {
    const requests = { ...spec.resources.requests, storage };
    spec = { ...spec, resources: { ...spec.resources, requests } };
  }
  return { before: old, after: spec };
}

/** A claim without a class may get one later: a cluster may get its default class after the claim. */
function takesDefaultClass(before: PersistentVolumeClaim, after: PersistentVolumeClaim): boolean {
  const isOld = before.metadata.annotations?.[betaStorageClassAnnotation] !== undefined;
  return (
    !isOld && before.spec.storageClassName === undefined && Boolean(after.spec.storageClassName)
  );
}

function validateShrinking(
  before: PersistentVolumeClaim,
  after: PersistentVolumeClaim,
): readonly FieldError[] {
  const was = before.spec.resources.requests?.storage ?? '0';
  const is = after.spec.resources.requests?.storage ?? '0';
  const capacity = before.status.capacity?.storage ?? '0';
  if (compareQuantities(is, was) >= 0 || compareQuantities(is, capacity) > 0) return [];
  return [
    forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'),
  ];
}

function validateAttributesClass(
  before: PersistentVolumeClaimSpec,
  after: PersistentVolumeClaimSpec,
): readonly FieldError[] {
  return before.volumeAttributesClassName !== undefined &&
    after.volumeAttributesClassName === undefined
    ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
    : [];
}
