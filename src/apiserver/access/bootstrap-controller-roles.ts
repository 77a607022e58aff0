// Default roles of controllers, one each, bound to a service account each: with `--use-service-account-credentials`, a
// controller can do no more than its work. Without it, all controllers share one user, to whom
// the roles of all of Fairlead's controllers are bound.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { rulesOfStorageControllers } from './bootstrap-storage-roles.ts';
import { rulesOfUpstreamControllers } from './bootstrap-upstream-roles.ts';
import { allow, clusterRole, read, recordEvents } from './role-objects.ts';

const manageSlices = allow(
  'create delete get list update watch',
  'discovery.k8s.io',
  'endpointslices',
);

const rulesOfControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'endpoint-controller': [
    allow(read, '', 'pods services'),
    allow('create delete get list update watch', '', 'endpoints'),
    allow('create', '', 'endpoints/restricted'),
    recordEvents,
  ],
  'endpointslice-controller': [
    allow(read, '', 'nodes pods services'),
    allow('update', '', 'services/finalizers'),
    manageSlices,
    allow('create', 'discovery.k8s.io', 'endpointslices/restricted'),
    recordEvents,
  ],
  'endpointslicemirroring-controller': [
    allow(read, '', 'endpoints services'),
    allow('update', '', 'services/finalizers endpoints/finalizers'),
    manageSlices,
    allow('create', 'discovery.k8s.io', 'endpointslices/restricted'),
    recordEvents,
  ],
  'generic-garbage-collector': [
    allow('delete get list patch update watch', '*', '*'),
    recordEvents,
  ],
  'namespace-controller': [
    allow('delete get list watch', '', 'namespaces'),
    allow('update', '', 'namespaces/finalize namespaces/status'),
    allow('delete deletecollection get list', '*', '*'),
  ],
  'deployment-controller': [
    allow('get list update watch', 'apps', 'deployments'),
    allow('update', 'apps', 'deployments/status deployments/finalizers'),
    allow('create delete get list patch update watch', 'apps', 'replicasets'),
    allow('get list update watch', '', 'pods'),
    recordEvents,
  ],
  'replicaset-controller': [
    allow('get list update watch', 'apps', 'replicasets'),
    allow('update', 'apps', 'replicasets/status replicasets/finalizers'),
    allow('create delete get list patch watch', '', 'pods'),
    recordEvents,
  ],
  'replication-controller': [
    allow('get list update watch', '', 'replicationcontrollers'),
    allow('update', '', 'replicationcontrollers/status replicationcontrollers/finalizers'),
    allow('create delete get list patch watch', '', 'pods'),
    recordEvents,
  ],
  'daemon-set-controller': [
    allow(read, 'apps', 'daemonsets'),
    allow('update', 'apps', 'daemonsets/status daemonsets/finalizers'),
    allow('list watch', '', 'nodes'),
    allow('create delete list patch watch', '', 'pods'),
    allow('create', '', 'pods/binding'),
    allow('create delete get list patch update watch', 'apps', 'controllerrevisions'),
    recordEvents,
  ],
  'statefulset-controller': [
    allow('list watch', '', 'pods'),
    allow(read, 'apps', 'statefulsets'),
    allow('update', 'apps', 'statefulsets/status statefulsets/finalizers'),
    allow('create delete get patch update', '', 'pods'),
    allow('create delete get list patch update watch', 'apps', 'controllerrevisions'),
    allow('create get', '', 'persistentvolumeclaims'),
    allow('delete update', '', 'persistentvolumeclaims'),
    recordEvents,
  ],
  'cronjob-controller': [
    allow('get list update watch', 'batch', 'cronjobs'),
    allow('create delete get list patch update watch', 'batch', 'jobs'),
    allow('update', 'batch', 'cronjobs/status cronjobs/finalizers'),
    allow('delete list', '', 'pods'),
    recordEvents,
  ],
  'disruption-controller': [
    allow(read, 'apps', 'deployments replicasets statefulsets'),
    allow(read, '', 'replicationcontrollers'),
    allow(read, 'policy', 'poddisruptionbudgets'),
    allow('update', 'policy', 'poddisruptionbudgets/status'),
    allow('patch update', '', 'pods/status'),
    allow('get', '*', '*/scale'),
    recordEvents,
  ],
  'job-controller': [
    allow('get list patch update watch', 'batch', 'jobs'),
    allow('update', 'batch', 'jobs/status jobs/finalizers'),
    allow('create delete list patch watch', '', 'pods'),
    recordEvents,
  ],
  'ttl-after-finished-controller': [allow('delete get list watch', 'batch', 'jobs'), recordEvents],
  'node-controller': [
    allow('delete get list patch update', '', 'nodes'),
    allow('patch update', '', 'nodes/status'),
    allow('patch update', '', 'pods/status'),
    allow('delete get list', '', 'pods'),
    recordEvents,
  ],
  'pod-garbage-collector': [
    allow('delete list watch', '', 'pods'),
    allow('get list', '', 'nodes'),
    allow('patch', '', 'pods/status'),
  ],
  'certificate-controller': [
    allow('delete get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  ],
  'service-account-controller': [allow('create', '', 'serviceaccounts'), recordEvents],
  'root-ca-cert-publisher': [allow('create get update', '', 'configmaps'), recordEvents],
  'clusterrole-aggregation-controller': [
    allow('escalate get list patch update watch', 'rbac.authorization.k8s.io', 'clusterroles'),
  ],
  'service-cidrs-controller': [
    allow('get list patch update watch', 'networking.k8s.io', 'servicecidrs'),
    allow('patch update', 'networking.k8s.io', 'servicecidrs/finalizers servicecidrs/status'),
    allow(read, 'networking.k8s.io', 'ipaddresses'),
    recordEvents,
  ],
  'service-controller': [
    allow(read, '', 'services'),
    allow('patch update', '', 'services/status'),
    allow('list watch', '', 'nodes'),
    recordEvents,
  ],
  ...rulesOfStorageControllers,
  // Upstream's API server does this itself, with all rights.
  'allocator-repair': [
    allow(read, '', 'services'),
    allow('create delete get list update watch', 'networking.k8s.io', 'ipaddresses'),
    allow(read, 'networking.k8s.io', 'servicecidrs'),
    recordEvents,
  ],
};

/** The service accounts of the controllers in kube-system. */
export const controllerNames: readonly string[] = Object.keys(rulesOfControllers);

export const controllerRoleName = (controller: string): string => `system:controller:${controller}`;

/** The service accounts of controllers that only kube-controller-manager has. */
export const upstreamControllerNames: readonly string[] = Object.keys(rulesOfUpstreamControllers);

export const controllerRoles: readonly ClusterRole[] = Object.entries({
  ...rulesOfControllers,
  ...rulesOfUpstreamControllers,
}).map(([controller, rules]) => clusterRole(controllerRoleName(controller), rules));
