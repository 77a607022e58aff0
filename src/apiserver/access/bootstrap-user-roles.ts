// Default roles of users: cluster-admin, admin, edit, view, and what all users may do.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { partsGroup } from '../../kinds/part/names.ts';
import { type PolicyRule, rbacGroup } from '../../kinds/rbac/types.ts';
import { aggregatedRole, allow, allowPaths, clusterRole, read, write } from './role-objects.ts';

const toAdmin = 'rbac.authorization.k8s.io/aggregate-to-admin';
const toEdit = 'rbac.authorization.k8s.io/aggregate-to-edit';
const toView = 'rbac.authorization.k8s.io/aggregate-to-view';

const adminRules: readonly PolicyRule[] = [
  allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
  allow(
    'create delete deletecollection get list patch update watch',
    rbacGroup,
    'rolebindings roles',
  ),
];

const editRules: readonly PolicyRule[] = [
  allow(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  allow('impersonate', '', 'serviceaccounts'),
  allow(write, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  allow('create', '', 'pods/eviction'),
  allow(
    write,
    '',
    'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
  ),
  allow('create', '', 'serviceaccounts/token'),
  allow(
    write,
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  allow(write, 'autoscaling', 'horizontalpodautoscalers'),
  allow(write, 'batch', 'cronjobs jobs'),
  allow(write, 'policy', 'poddisruptionbudgets'),
  allow(write, 'networking.k8s.io', 'ingresses networkpolicies'),
  allow(
    'create delete deletecollection get list patch update watch',
    'coordination.k8s.io',
    'leases',
  ),
];

/** Neither secrets nor roles: reading credentials or roles would allow privilege escalation. */
const viewRules: readonly PolicyRule[] = [
  allow(
    read,
    '',
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
  ),
  allow(
    read,
    '',
    'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
  ),
  allow(read, '', 'namespaces'),
  allow(read, 'discovery.k8s.io', 'endpointslices'),
  allow(
    read,
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  allow(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  allow(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
  allow(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  allow(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
];

export const userRoles: readonly ClusterRole[] = [
  clusterRole('cluster-admin', [allow('*', '*', '*'), allowPaths('*', '*')]),
  aggregatedRole('admin', toAdmin),
  aggregatedRole('edit', toEdit, { [toAdmin]: 'true' }),
  aggregatedRole('view', toView, { [toEdit]: 'true' }),
  clusterRole('system:aggregate-to-admin', adminRules, { [toAdmin]: 'true' }),
  clusterRole('system:aggregate-to-edit', editRules, { [toEdit]: 'true' }),
  clusterRole('system:aggregate-to-view', viewRules, { [toView]: 'true' }),
  // Fairlead's own resource: the role of upstream stays as it is.
  clusterRole(
    'fairlead:aggregate-to-view',
    [allow('get', partsGroup, 'propagations'), allow('get list', partsGroup, 'traffics')],
    { [toView]: 'true' },
  ),
  clusterRole('system:discovery', [
    allowPaths(
      'get',
      '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/',
    ),
  ]),
  clusterRole('system:public-info-viewer', [
    allowPaths('get', '/healthz /livez /readyz /version /version/'),
  ]),
  clusterRole('system:monitoring', [
    allowPaths(
      'get',
      '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*',
    ),
  ]),
  clusterRole('system:basic-user', [
    allow('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    allow('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  clusterRole('system:auth-delegator', [
    allow('create', 'authentication.k8s.io', 'tokenreviews'),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  ]),
  clusterRole('system:service-account-issuer-discovery', [
    allowPaths(
      'get',
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
    ),
  ]),
];
