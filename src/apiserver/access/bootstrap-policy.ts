// The roles and bindings that every installation starts with.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { clusterInfo } from '../../kinds/config-map/cluster-info.ts';
import type { Role } from '../../kinds/role/types.ts';
import { nodeBootstrappersGroup } from '../../kinds/secret/bootstrap-token.ts';
import { aggregateRules } from './aggregate-rules.ts';
import {
  controllerNames,
  controllerRoleName,
  controllerRoles,
  upstreamControllerNames,
} from './bootstrap-controller-roles.ts';
import { partRoles } from './bootstrap-part-roles.ts';
import { userRoles } from './bootstrap-user-roles.ts';
import type { Binding } from './grant-index.ts';
import {
  anonymousUser,
  authenticatedGroup,
  mastersGroup,
  nodeClientUser,
  nodesGroup,
  unauthenticatedGroup,
} from './known-users.ts';
import {
  account,
  allow,
  clusterRoleBinding,
  group,
  recordEvents,
  role,
  roleBinding,
  user,
} from './role-objects.ts';

export type BootstrapPolicy = {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly Binding[];
  readonly roles: readonly Role[];
  readonly roleBindings: readonly Binding[];
};

/** Without the metadata that the server sets. Built on demand: only the first start needs it. */
export function bootstrapPolicy(): BootstrapPolicy {
  const clusterRoles = [...userRoles, ...partRoles, ...controllerRoles];
  return {
    // Aggregated roles have their rules from the start.
    clusterRoles: clusterRoles.map((one) => ({ ...one, rules: aggregateRules(one, clusterRoles) })),
    clusterRoleBindings: clusterRoleBindings(),
    roles: namespaceRoles(),
    roleBindings: namespaceBindings(),
  };
}

function clusterRoleBindings(): readonly Binding[] {
  const same = (name: string, ...subjects: Parameters<typeof clusterRoleBinding>[2]): Binding =>
    clusterRoleBinding(name, name, subjects);
  const manager = user('system:kube-controller-manager');
  return [
    same('cluster-admin', group(mastersGroup)),
    same('system:discovery', group(authenticatedGroup)),
    same('system:basic-user', group(authenticatedGroup)),
    same('system:public-info-viewer', group(authenticatedGroup), group(unauthenticatedGroup)),
    same('system:monitoring', group('system:monitoring')),
    same('system:service-account-issuer-discovery', group('system:serviceaccounts')),
    // Without subjects: what a node may do depends on which node it is, so the node authorizer decides.
    same('system:node'),
    same('system:node-proxier', user('system:kube-proxy')),
    same(announcerName, user(announcerName)),
    same('system:kube-dns', account('kube-dns')),
    same('system:coredns', account('coredns'), user('system:coredns')),
    same('system:kube-controller-manager', manager),
    same(
      'system:cloud-controller-manager',
      account('cloud-controller-manager'),
      user('system:cloud-controller-manager'),
    ),
    same('system:kube-scheduler', user('system:kube-scheduler')),
    same('system:volume-scheduler', user('system:kube-scheduler')),
    // Fairlead's scheduler is one of the controllers.
    clusterRoleBinding('fairlead:scheduler', 'system:kube-scheduler', [
      account('fairlead-scheduler'),
      manager,
    ]),
    clusterRoleBinding('fairlead:volume-scheduler', 'system:volume-scheduler', [
      account('fairlead-scheduler'),
      manager,
    ]),
    ...joiningBindings(),
    // The service accounts as upstream; the user because Fairlead's controllers may share one credential.
    ...controllerNames.map((name) => same(controllerRoleName(name), account(name), manager)),
    ...upstreamControllerNames.map((name) => same(controllerRoleName(name), account(name))),
  ];
}

/** Let a machine with a bootstrap token become a node, and a node renew its certificates. */
function joiningBindings(): readonly Binding[] {
  const approvals = 'system:certificates.k8s.io:certificatesigningrequests';
  const joining = [group(nodeBootstrappersGroup)];
  const nodes = [group(nodesGroup)];
  return [
    clusterRoleBinding('fairlead:node-bootstrap', 'system:node-bootstrapper', joining),
    clusterRoleBinding('fairlead:node-approval', `${approvals}:nodeclient`, joining),
    clusterRoleBinding('fairlead:node-renewal', `${approvals}:selfnodeclient`, nodes),
    clusterRoleBinding('fairlead:node-serving', 'fairlead:selfnodeserver', nodes),
    clusterRoleBinding('fairlead:proxy-of-node', 'fairlead:proxy-of-node', nodes),
    // For this server's calls to node agents; upstream leaves the binding to the installer.
    clusterRoleBinding('fairlead:kubelet-client', 'system:kubelet-api-admin', [
      user(nodeClientUser),
    ]),
  ];
}

const signerRole = 'system:controller:bootstrap-signer';
const cleanerRole = 'system:controller:token-cleaner';
const infoReader = 'fairlead:cluster-info';
/** The user, its roles and their bindings. */
const announcerName = 'fairlead:announcer';

const lockNames = ['kube-controller-manager', 'kube-scheduler'] as const;
const lockRoleName = (part: string): string => `system::leader-locking-${part}`;
const configReader = 'extension-apiserver-authentication-reader';

function namespaceRoles(): readonly Role[] {
  return [
    role('kube-system', configReader, [
      allow('get list watch', '', 'configmaps', 'extension-apiserver-authentication'),
    ]),
    role('kube-system', signerRole, [allow('get list watch', '', 'secrets')]),
    role('kube-system', cleanerRole, [allow('delete get list watch', '', 'secrets'), recordEvents]),
    role('kube-public', signerRole, [
      allow('get list watch', '', 'configmaps'),
      allow('update', '', 'configmaps', clusterInfo.name),
      recordEvents,
    ]),
    role('kube-public', infoReader, [allow('get', '', 'configmaps', clusterInfo.name)]),
    role('kube-system', announcerName, [
      allow('create delete get list patch update watch', 'coordination.k8s.io', 'leases'),
    ]),
    ...lockNames.map((part) =>
      role('kube-system', lockRoleName(part), [
        allow('watch', '', 'configmaps'),
        allow('get update', '', 'configmaps', part),
      ]),
    ),
  ];
}

function namespaceBindings(): readonly Binding[] {
  const manager = user('system:kube-controller-manager');
  const managers = [manager, user('system:kube-scheduler')];
  return [
    roleBinding('kube-system', configReader, managers),
    roleBinding('kube-system', signerRole, [account('bootstrap-signer'), manager]),
    roleBinding('kube-system', cleanerRole, [account('token-cleaner'), manager]),
    roleBinding('kube-public', signerRole, [account('bootstrap-signer'), manager]),
    // A machine that joins is anonymous; the ConfigMap is signed, and contains nothing that a TLS handshake would not show.
    roleBinding('kube-public', infoReader, [user(anonymousUser)]),
    roleBinding('kube-system', announcerName, [user(announcerName)]),
    ...lockNames.map((part) =>
      roleBinding('kube-system', lockRoleName(part), [user(`system:${part}`), account(part)]),
    ),
  ];
}
