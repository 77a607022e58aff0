// Default roles of cluster components: nodes, node proxies, DNS, controller managers.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { partsGroup } from '../../kinds/part/names.ts';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { allow, clusterRole, read, recordEvents } from './role-objects.ts';

const askAboutAccess: readonly PolicyRule[] = [
  allow('create', 'authentication.k8s.io', 'tokenreviews'),
  allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
];

/** Also the rules of the node authorizer for resources that it does not restrict to single nodes. */
export const nodeRules: readonly PolicyRule[] = [
  allow('create', 'authentication.k8s.io', 'tokenreviews'),
  allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
  allow(read, '', 'services'),
  allow('create get list watch', '', 'nodes'),
  allow('patch update', '', 'nodes/status'),
  allow('patch update', '', 'nodes'),
  allow('create patch update', '', 'events'),
  allow(read, '', 'pods'),
  allow('create delete', '', 'pods'),
  allow('patch update', '', 'pods/status'),
  allow('create', '', 'pods/eviction'),
  allow(read, '', 'configmaps secrets'),
  allow('get', '', 'persistentvolumeclaims persistentvolumes'),
  allow('get', '', 'endpoints'),
  allow('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  allow('create delete get patch update', 'coordination.k8s.io', 'leases'),
  allow('get', 'storage.k8s.io', 'volumeattachments'),
  allow('create', '', 'serviceaccounts/token'),
  allow('get patch update', '', 'persistentvolumeclaims/status'),
  allow(read, 'storage.k8s.io', 'csidrivers'),
  allow('create delete get patch update', 'storage.k8s.io', 'csinodes'),
  allow(read, 'node.k8s.io', 'runtimeclasses'),
];

const managerRules: readonly PolicyRule[] = [
  recordEvents,
  allow('create', 'coordination.k8s.io', 'leases'),
  allow('get update', 'coordination.k8s.io', 'leases', 'kube-controller-manager'),
  allow('create', '', 'secrets serviceaccounts'),
  allow('delete', '', 'secrets'),
  allow('get', '', 'configmaps namespaces secrets serviceaccounts'),
  allow('update', '', 'secrets serviceaccounts'),
  ...askAboutAccess,
  allow('list watch', '*', '*'),
  allow('create', '', 'serviceaccounts/token'),
];

const schedulerRules: readonly PolicyRule[] = [
  recordEvents,
  allow('create', 'coordination.k8s.io', 'leases'),
  allow('get update', 'coordination.k8s.io', 'leases', 'kube-scheduler'),
  allow(read, '', 'nodes'),
  allow('delete get list watch', '', 'pods'),
  allow('create', '', 'bindings pods/binding'),
  allow('patch update', '', 'pods/status'),
  allow(read, '', 'replicationcontrollers services'),
  allow(read, 'apps', 'replicasets statefulsets'),
  allow(read, 'policy', 'poddisruptionbudgets'),
  allow(read, '', 'persistentvolumeclaims persistentvolumes'),
  ...askAboutAccess,
  allow(read, 'storage.k8s.io', 'csidrivers csinodes csistoragecapacities volumeattachments'),
  allow(read, '', 'namespaces'),
  allow(read, 'resource.k8s.io', 'deviceclasses resourceslices'),
  allow('get list patch update watch', 'resource.k8s.io', 'resourceclaims resourceclaims/status'),
];

const dnsRules: readonly PolicyRule[] = [
  allow('list watch', '', 'endpoints services pods namespaces'),
  allow(read, '', 'nodes'),
  allow('list watch', 'discovery.k8s.io', 'endpointslices'),
];

const cloudRules: readonly PolicyRule[] = [
  recordEvents,
  allow('create get list update watch', 'coordination.k8s.io', 'leases'),
  allow('get list patch update watch', '', 'services'),
  allow('patch update', '', 'services/status'),
  allow('get list patch update watch delete', '', 'nodes'),
  allow('patch update', '', 'nodes/status'),
  allow(read, 'discovery.k8s.io', 'endpointslices'),
  allow('create get list', '', 'serviceaccounts'),
  allow('create', '', 'serviceaccounts/token'),
];

/** Questions of users about what is in effect, and the answers (src/apiserver/parts). */
const answerQuestions: readonly PolicyRule[] = [
  allow('get', partsGroup, 'parts/questions'),
  allow('create', partsGroup, 'parts/answers'),
];

const requests = 'certificatesigningrequests';
const certificates = 'certificates.k8s.io';

/** Rights around certificate requests; the approver checks those on `nodeclient` and the like. */
const certificateRoles: readonly ClusterRole[] = [
  clusterRole('system:node-bootstrapper', [allow('create get list watch', certificates, requests)]),
  ...['nodeclient', 'selfnodeclient'].map((kind) =>
    clusterRole(`system:${certificates}:${requests}:${kind}`, [
      allow('create', certificates, `${requests}/${kind}`),
    ]),
  ),
  // Upstream, an administrator approves serving certificates; here the approver checks the addresses of the node.
  clusterRole('fairlead:selfnodeserver', [
    allow('create', certificates, `${requests}/selfnodeserver`),
  ]),
  ...[
    'kube-apiserver-client',
    'kube-apiserver-client-kubelet',
    'kubelet-serving',
    'legacy-unknown',
  ].map((signer) =>
    clusterRole(`system:${certificates}:${signer}-approver`, [
      allow('approve', certificates, 'signers', `kubernetes.io/${signer}`),
    ]),
  ),
];

export const partRoles: readonly ClusterRole[] = [
  ...certificateRoles,
  // Not bound by default: nodes whose pods have networks of their own read the other nodes to find routes; administrators decide.
  clusterRole('fairlead:pod-network', [allow(read, '', 'nodes')]),
  // What a node proxy needs in addition to the rights of its node, so that both can be one user.
  clusterRole('fairlead:proxy-of-node', [
    allow('list watch', '', 'services'),
    allow('list watch', 'discovery.k8s.io', 'endpointslices'),
    allow('list watch', 'networking.k8s.io', 'servicecidrs'),
    recordEvents,
    ...answerQuestions,
  ]),
  // A role in kube-system allows its leases.
  clusterRole('fairlead:announcer', [
    allow(read, '', 'services nodes'),
    allow(read, 'discovery.k8s.io', 'endpointslices'),
    recordEvents,
  ]),
  clusterRole('system:node', nodeRules),
  clusterRole('system:node-proxier', [
    allow('list watch', '', 'endpoints services'),
    allow(read, '', 'nodes'),
    recordEvents,
    allow('list watch', 'discovery.k8s.io', 'endpointslices'),
    allow('list watch', 'networking.k8s.io', 'servicecidrs'),
    ...answerQuestions,
  ]),
  clusterRole('system:kube-dns', [allow('list watch', '', 'endpoints services')]),
  // For CoreDNS; Fairlead's own DNS is the same user.
  clusterRole('system:coredns', [...dnsRules, ...answerQuestions]),
  clusterRole('system:kube-controller-manager', managerRules),
  clusterRole('system:cloud-controller-manager', cloudRules),
  clusterRole('system:kube-scheduler', schedulerRules),
  clusterRole('system:volume-scheduler', [
    allow('get list patch update watch', '', 'persistentvolumeclaims persistentvolumes'),
    allow(read, 'storage.k8s.io', 'storageclasses'),
  ]),
  clusterRole('system:kubelet-api-admin', [
    allow(read, '', 'nodes'),
    allow('proxy', '', 'nodes'),
    allow('*', '', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
  ]),
];
