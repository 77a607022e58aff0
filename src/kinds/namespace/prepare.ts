import { kubernetesFinalizer } from '../../meta/finalizers.ts';
import { namespaceNameLabel } from '../../meta/well-known-labels.ts';
import type { Namespace } from './types.ts';

/** Restores the label with the name, except before a name is generated. */
export function defaultNamespace(namespace: Namespace): Namespace {
  const { metadata, status } = namespace;
  return {
    ...namespace,
    metadata: metadata.name
      ? { ...metadata, labels: { ...metadata.labels, [namespaceNameLabel]: metadata.name } }
      : metadata,
    status: { ...status, phase: status.phase || 'Active' },
  };
}

export function prepareNamespaceCreate(namespace: Namespace): Namespace {
  const finalizers = namespace.spec.finalizers ?? [];
  return {
    ...namespace,
    spec: {
      ...namespace.spec,
      finalizers: finalizers.includes(kubernetesFinalizer)
        ? finalizers
        : [...finalizers, kubernetesFinalizer],
    },
    status: { phase: 'Active' },
  };
}

/** Finalizers of the spec change only through `finalize`, the status only through `status`. */
export function prepareNamespaceUpdate(before: Namespace, after: Namespace): Namespace {
  return { ...after, spec: before.spec, status: before.status };
}

export function prepareNamespaceStatus(before: Namespace, after: Namespace): Namespace {
  return { ...after, spec: before.spec };
}

export function prepareNamespaceFinalize(before: Namespace, after: Namespace): Namespace {
  return { ...after, status: before.status };
}
