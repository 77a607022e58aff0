// How a namespace ends: a delete marks it, the namespace controller empties it and takes its finalizer off,
// and the last finalizer to go, of spec or metadata, removes it.
import type { Namespace } from './types.ts';

/** What a delete makes of a namespace that has its deletion marks: the phase says so, and there is no grace period. */
export function markTerminating(namespace: Namespace): Namespace {
  const { deletionGracePeriodSeconds: _none, ...metadata } = namespace.metadata;
  return { ...namespace, metadata, status: { ...namespace.status, phase: 'Terminating' } };
}

/** The finalizers of the spec keep the namespace, besides those of its metadata. */
export function hasOwnFinalizers({ spec }: Namespace): boolean {
  return (spec.finalizers ?? []).length > 0;
}

export function isTerminating({ metadata, status }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined || status.phase === 'Terminating';
}
