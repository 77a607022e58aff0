// What must hold around a write beyond the object itself: its namespace exists and is not going.
import type { AnyKind } from '../kinds/definition.ts';
import { type ApiError, failure, forbidden, notFound } from '../meta/api-error.ts';
import type { ObjectReader } from './object-reader.ts';

const immortalNamespaces = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

type Target = { readonly definition: AnyKind; readonly namespace: string; readonly name: string };

export function admitCreate(reader: ObjectReader, { definition, namespace, name }: Target): void {
  if (!definition.namespaced) return;
  const found = reader.get('namespaces', '', namespace);
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  throw terminating(definition, namespace, name);
}

export function admitDelete({ definition, name }: Target): void {
  if (definition.kind === 'Namespace' && definition.group === '' && immortalNamespaces.has(name)) {
    throw forbidden(
      { group: '', resource: 'namespaces' },
      name,
      'this namespace may not be deleted',
    );
  }
}

function terminating(definition: AnyKind, namespace: string, name: string): ApiError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden({ group: definition.group, resource: definition.plural }, name, why);
  return failure({
    code: 403,
    reason: 'Forbidden',
    message: status.message ?? why,
    details: {
      ...status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}
