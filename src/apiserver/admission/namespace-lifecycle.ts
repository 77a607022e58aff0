// Objects can be created only in namespaces that exist and are not terminating; some namespaces cannot be deleted.
import { type ApiError, failure, forbidden, notFound } from '../../meta/api-error.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

const immortalNamespaces = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  onByDefault: true,
  mutate(request, { reader }) {
    const { operation, definition, namespace, name } = request;
    if (operation === 'delete' && isResource(request, '', 'namespaces')) {
      if (immortalNamespaces.has(name)) throw immortal(name);
    }
    if (operation !== 'create' || !definition.namespaced) return undefined;
    const found = reader.get('namespaces', '', namespace);
    if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (found.metadata.deletionTimestamp !== undefined) throw terminating(request);
    return undefined;
  },
};

function immortal(name: string): ApiError {
  const namespaces = { group: '', resource: 'namespaces' };
  return forbidden(namespaces, name, 'this namespace may not be deleted');
}

function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = refused(request, why);
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
