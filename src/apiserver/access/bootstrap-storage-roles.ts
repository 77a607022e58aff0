// Default roles of the controllers for volumes and quotas. Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { allow, read, recordEvents } from './role-objects.ts';

const readWatch = 'list watch';
const claims = 'persistentvolumeclaims';
const volumes = 'persistentvolumes';
const storage = 'storage.k8s.io';

/** By the name of the service account. */
export const rulesOfStorageControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'ephemeral-volume-controller': [
    allow(read, '', 'pods'),
    allow('update', '', 'pods/finalizers'),
    allow('create get list watch', '', claims),
    recordEvents,
  ],
  'expand-controller': [
    allow('get list patch update watch', '', volumes),
    allow('patch update', '', `${claims}/status`),
    allow(read, '', claims),
    allow(read, storage, 'storageclasses'),
    allow('get', '', 'endpoints secrets services'),
    recordEvents,
  ],
  'persistent-volume-binder': [
    allow('create delete get list update watch', '', volumes),
    allow('update', '', `${volumes}/status ${claims}/status`),
    allow('get list update watch', '', claims),
    allow('create delete get list watch', '', 'pods'),
    allow(read, storage, 'storageclasses'),
    allow('create delete get update', '', 'endpoints'),
    allow('create delete get', '', 'services'),
    allow('get', '', 'secrets'),
    allow('get list', '', 'nodes'),
    allow('watch', '', 'events'),
    recordEvents,
  ],
  'pv-protection-controller': [allow('get list update watch', '', volumes), recordEvents],
  'pvc-protection-controller': [
    allow('get list update watch', '', claims),
    allow(read, '', 'pods'),
    recordEvents,
  ],
  'resourcequota-controller': [
    allow(readWatch, '*', '*'),
    allow('update', '', 'resourcequotas/status'),
    recordEvents,
  ],
  // Upstream has no such provisioner.
  'local-volume-provisioner': [
    allow('create delete get list update watch', '', volumes),
    allow(read, '', `${claims} nodes`),
    allow('update', '', `${claims}/status`),
    allow(read, storage, 'storageclasses'),
    recordEvents,
  ],
};
