// Attempts of a node to access other objects than its own; authorization-attempts.ts has those of users.
import {
  type Attempt,
  acting,
  apply,
  by,
  home,
  merge,
  named,
  requests,
} from './authorization-attempts.ts';

const node = by('system:node:n1');
const podOnNode = (name: string, nodeName: string, annotations?: object): object => ({
  metadata: { name, ...(annotations && { annotations }) },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
});
const token = (name: string, uid = 'x'): object => ({
  spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
});

export const nodeAttempts: readonly Attempt[] = [
  node("reads a Secret of another node's pod", `GET ${home}/secrets/s2`, 403),
  node('lists all Secrets of a namespace', `GET ${home}/secrets`, 403),
  node('lists Secrets everywhere', 'GET /api/v1/secrets', 403),
  node(
    'watches more than one Secret by the old path',
    `GET /api/v1/watch/namespaces/home/secrets/s2`,
    403,
  ),
  node(
    'names its own Secret and selects another',
    `GET ${home}/secrets?fieldSelector=metadata.name%3Ds2`,
    403,
  ),
  node('writes a Secret that its pod uses', `PATCH ${home}/secrets/s1`, 403, {
    body: { data: {} },
    type: merge,
  }),
  node('lists all pods', 'GET /api/v1/pods', 403),
  node('lists the pods of another node', 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn2', 403),
  node(
    'lists pods of all nodes but its own',
    'GET /api/v1/pods?fieldSelector=spec.nodeName!%3Dn1',
    403,
  ),
  node("reads another node's pod", `GET ${home}/pods/p2`, 403),
  node("deletes another node's pod", `DELETE ${home}/pods/p2`, 403),
  node('deletes all pods', `DELETE ${home}/pods`, 403),
  node("evicts another node's pod", `POST ${home}/pods/p2/eviction`, 403, { body: named('p2') }),
  node('evicts another pod by the name in the body', `POST ${home}/pods/p1/eviction`, 400, {
    body: named('p2'),
  }),
  node("writes the status of another node's pod", `PATCH ${home}/pods/p2/status`, 403, {
    body: { status: { phase: 'Failed' } },
    type: merge,
  }),
  node('changes labels by the status', `PATCH ${home}/pods/p1/status`, 403, {
    body: { metadata: { labels: { app: 'db' } } },
    type: merge,
  }),
  node('changes the pod itself', `PATCH ${home}/pods/p1`, 403, {
    body: { metadata: { labels: { a: 'b' } } },
    type: merge,
  }),
  node('binds a pod to itself', `POST ${home}/pods/p3/binding`, 403, {
    body: named('p3', { target: { kind: 'Node', name: 'n1' } }),
  }),
  node('runs a command in a pod', `POST ${home}/pods/p2/exec?command=id`, 403),
  node('adds an ephemeral container', `PATCH ${home}/pods/p1/ephemeralcontainers`, 403, {
    body: { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } },
    type: merge,
  }),
  node('resizes a pod', `PATCH ${home}/pods/p1/resize`, 403, { body: {}, type: merge }),
  node('creates a pod that is no mirror', `POST ${home}/pods`, 403, {
    body: podOnNode('fresh', 'n1'),
  }),
  node('creates a mirror pod of another node', `POST ${home}/pods`, 403, {
    body: podOnNode('fresh', 'n2', { 'kubernetes.io/config.mirror': 'x' }),
  }),
  node('applies a pod', `PATCH ${home}/pods/fresh?fieldManager=a`, 403, {
    body: { apiVersion: 'v1', kind: 'Pod', ...podOnNode('fresh', 'n1') },
    type: apply,
  }),
  node('reads another Node', 'GET /api/v1/nodes/n2', 403),
  node('lists Nodes', 'GET /api/v1/nodes', 403),
  node('changes another Node', 'PATCH /api/v1/nodes/n2', 403, {
    body: { spec: { unschedulable: true } },
    type: merge,
  }),
  node('changes the status of another Node', 'PATCH /api/v1/nodes/n2/status', 403, {
    body: { status: {} },
    type: merge,
  }),
  node('makes a Node of another name', 'POST /api/v1/nodes', 403, { body: named('n9') }),
  node('deletes its Node', 'DELETE /api/v1/nodes/n1', 403),
  node('takes away its taints', 'PATCH /api/v1/nodes/n1', 403, {
    body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    type: merge,
  }),
  node('labels itself as what others choose', 'PATCH /api/v1/nodes/n1', 403, {
    body: { metadata: { labels: { 'node-restriction.kubernetes.io/pci': 'true' } } },
    type: merge,
  }),
  node(
    'reads the lease of another node',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2',
    403,
  ),
  node(
    'makes the lease of another node',
    'POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    403,
    { body: named('n2') },
  ),
  node('makes a lease elsewhere', 'POST /apis/coordination.k8s.io/v1/namespaces/home/leases', 403, {
    body: named('n1'),
  }),
  node("asks for a token of another node's pod", `POST ${home}/serviceaccounts/of-p2/token`, 403, {
    body: token('p2'),
  }),
  node(
    'asks for a token that is bound to nothing',
    `POST ${home}/serviceaccounts/of-p1/token`,
    403,
    {
      body: { spec: {} },
    },
  ),
  node(
    'asks for a token of its pod for another audience',
    `POST ${home}/serviceaccounts/of-p1/token`,
    403,
    {
      body: { spec: { ...(token('p1') as { spec: object }).spec, audiences: ['vault'] } },
    },
  ),
  node(
    'impersonates another user',
    `GET ${home}/secrets/s2`,
    403,
    acting('system:admin', 'system:masters'),
  ),
  node('approves a certificate request', `PATCH ${requests}/pending/approval`, 403, {
    body: {},
    type: merge,
  }),
];
