// Names of users and groups with a meaning for the server.
import { dns1123Label, dns1123Subdomain } from '../../meta/names.ts';
import type { User } from './user.ts';

export const mastersGroup = 'system:masters';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const anonymousUser = 'system:anonymous';
export const nodesGroup = 'system:nodes';
/** Where nodes renew their leases. */
export const nodeLeaseNamespace = 'kube-node-lease';
/** The user of this server's client certificate for node agents; the name is kubeadm's. */
export const nodeClientUser = 'kube-apiserver-kubelet-client';
const nodePrefix = 'system:node:';
const serviceAccountPrefix = 'system:serviceaccount:';
const serviceAccountsGroup = 'system:serviceaccounts';

export type ServiceAccountName = { readonly namespace: string; readonly name: string };

export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [serviceAccountsGroup, `${serviceAccountsGroup}:${namespace}`];
}

/** The service account that a user name denotes, if it does. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace = '', name = '', ...rest] = user.slice(serviceAccountPrefix.length).split(':');
  return rest.length === 0 && dns1123Label(namespace).length === 0 && isSubdomain(name)
    ? { namespace, name }
    : undefined;
}

/** The user name of a node. */
export const nodeUser = (node: string): string => `${nodePrefix}${node}`;

/** The node that a user name denotes, if it does. */
export function nodeOf(user: string): string | undefined {
  const name = user.startsWith(nodePrefix) ? user.slice(nodePrefix.length) : '';
  return isSubdomain(name) ? name : undefined;
}

/** The name of the node, for users with the name and the group of a node. May be empty. */
export function nodeIdentity({ name, groups }: User): string | undefined {
  return name.startsWith(nodePrefix) && groups.includes(nodesGroup)
    ? name.slice(nodePrefix.length)
    : undefined;
}

function isSubdomain(name: string): boolean {
  return dns1123Subdomain(name).length === 0;
}
