// Columns of `kubectl get nodes`.
import { nodeRolePrefix } from '../../meta/well-known-labels.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { Node } from './types.ts';

const roleLabel = 'kubernetes.io/role';
const addressDescription =
  "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).";

const wide = (name: string, description: string, cell: (node: Node) => string): Column<Node> => ({
  name,
  type: 'string',
  priority: 1,
  description,
  cell,
});

export const nodeColumns: readonly Column<Node>[] = [
  nameColumn,
  { name: 'Status', type: 'string', description: 'The status of the node', cell: nodeState },
  { name: 'Roles', type: 'string', description: 'The roles of the node', cell: nodeRoles },
  ageColumn,
  {
    name: 'Version',
    type: 'string',
    description: 'Kubelet Version reported by the node.',
    cell: ({ status }) => status.nodeInfo.kubeletVersion,
  },
  wide('Internal-IP', addressDescription, (node) => addressOf(node, 'InternalIP')),
  wide('External-IP', addressDescription, (node) => addressOf(node, 'ExternalIP')),
  wide(
    'OS-Image',
    'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
    ({ status }) => status.nodeInfo.osImage || '<unknown>',
  ),
  wide(
    'Kernel-Version',
    "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
    ({ status }) => status.nodeInfo.kernelVersion || '<unknown>',
  ),
  wide(
    'Container-Runtime',
    'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
    ({ status }) => status.nodeInfo.containerRuntimeVersion || '<unknown>',
  ),
];

function nodeState({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable ? `${state},SchedulingDisabled` : state;
}

function nodeRoles({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([label, value]) => {
    if (label === roleLabel) return value === '' ? [] : [value];
    const role = label.startsWith(nodeRolePrefix) ? label.slice(nodeRolePrefix.length) : '';
    return role === '' ? [] : [role];
  });
  return [...new Set(roles)].sort().join(',') || '<none>';
}

function addressOf({ status }: Node, wanted: string): string {
  return status.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>';
}
