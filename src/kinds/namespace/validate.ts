import { type FieldError, invalid } from '../../meta/field-error.ts';
import {
  foregroundFinalizer,
  kubernetesFinalizer,
  orphanFinalizer,
} from '../../meta/finalizers.ts';
import { qualifiedName } from '../../meta/names.ts';
import type { Namespace } from './types.ts';

/** Finalizers without a domain. */
const standardFinalizers: readonly string[] = [
  kubernetesFinalizer,
  orphanFinalizer,
  foregroundFinalizer,
];

export function validateNamespace({ spec }: Namespace): readonly FieldError[] {
  return (spec.finalizers ?? []).flatMap((name) => validateFinalizer(name, 'spec.finalizers'));
}

export function validateNamespaceFinalize({ spec }: Namespace): readonly FieldError[] {
  return (spec.finalizers ?? []).flatMap((name, i) =>
    validateFinalizer(name, `spec.finalizers[${i}]`),
  );
}

export function validateNamespaceStatus({ metadata, status }: Namespace): readonly FieldError[] {
  const deleted = metadata.deletionTimestamp !== undefined;
  const phase = status.phase ?? '';
  if (phase === (deleted ? 'Terminating' : 'Active')) return [];
  const detail = deleted
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalid('status.Phase', phase, detail)];
}

function validateFinalizer(name: string, field: string): readonly FieldError[] {
  const wrong = [...qualifiedName(name)];
  if (!name.includes('/') && !standardFinalizers.includes(name)) {
    wrong.push('name is neither a standard finalizer name nor is it fully qualified');
  }
  return wrong.map((detail) => invalid(field, name, detail));
}
