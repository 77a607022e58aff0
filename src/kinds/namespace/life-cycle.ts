// Deletion of namespaces: a delete request marks the namespace, the namespace controller deletes its content and
// removes its finalizer, and the last finalizer of spec or metadata removes the object.
import type { Namespace } from './types.ts';

/** Marks a namespace as terminating: the phase says so, and there is no grace period. */
export function markTerminating(namespace: Namespace): Namespace {
  const { deletionGracePeriodSeconds: _none, ...metadata } = namespace.metadata;
  return { ...namespace, metadata, status: { ...namespace.status, phase: 'Terminating' } };
}

/** Finalizers in the spec also block the deletion. */
export function hasOwnFinalizers({ spec }: Namespace): boolean {
  return (spec.finalizers ?? []).length > 0;
}

export function isTerminating({ metadata, status }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined || status.phase === 'Terminating';
}
