// The query options of writes: dryRun, fieldValidation, fieldManager, force.
import { invalid } from '../../meta/api-error.ts';
import { type FieldError, notSupported } from '../../meta/field-error.ts';
import type { QueryOptions } from '../message.ts';
import { validateFieldManager } from '../patch/manager.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export type WriteOptions = {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Empty when the client did not name one. */
  readonly fieldManager: string;
  readonly force: boolean;
};

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const validations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

export function parseWriteOptions(
  query: QueryOptions,
  kind: OptionsKind,
  isApply = false,
): WriteOptions {
  // Most requests have no option; an apply without one is an error.
  if (query.size === 0 && !isApply) return defaultOptions;
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const fieldManager = query.get('fieldManager') ?? '';
  const force = query.get('force');
  const errors: FieldError[] = [
    ...validateFieldManager(fieldManager, kind === 'PatchOptions' && isApply, {
      forceGiven: force !== null,
      isPatch: kind === 'PatchOptions',
    }),
    ...dryRunErrors(dryRun),
    ...(validations.includes(fieldValidation)
      ? []
      : [notSupported('fieldValidation', fieldValidation, validations)]),
  ];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    fieldManager,
    force: force === 'true' || force === '1',
  };
}

const defaultOptions: WriteOptions = {
  dryRun: false,
  fieldValidation: 'Warn',
  fieldManager: '',
  force: false,
};

export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}
