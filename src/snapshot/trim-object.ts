// Drops what no question about Services needs, so that large clusters fit into memory.

import type { KubeObject } from '../meta/object.ts';
import { lastAppliedAnnotation } from '../meta/well-known-annotations.ts';
import type { SnapshotKind } from './snapshot.ts';

export function trimObject<T extends KubeObject>(kind: SnapshotKind, object: T): T {
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata;
  // What was applied to a Service is compared with what it has.
  const kept = kind === 'services' ? annotations : withoutLastApplied(annotations);
  return {
    ...object,
    metadata: { ...metadata, ...(kept === undefined ? {} : { annotations: kept }) },
  };
}

function withoutLastApplied(
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (annotations?.[lastAppliedAnnotation] === undefined) return annotations;
  const { [lastAppliedAnnotation]: _lastApplied, ...others } = annotations;
  return others;
}
