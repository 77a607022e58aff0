// How things at AWS are called and marked, so that they are found again and told from those of others.
import { createHash } from 'node:crypto';
import { serviceNameLabel } from '../../../meta/well-known-labels.ts';
import type { Owner } from '../../provider.ts';

export type Tags = Readonly<Record<string, string>>;

/** Elastic Load Balancing takes no longer names. */
const maxNameLength = 32;

/** The key of the label, as upstream's cloud provider tags. */
export const serviceTag = serviceNameLabel;
export const clusterTag = (cluster: string): string => `kubernetes.io/cluster/${cluster}`;

/** As in upstream's cloud provider: the UID is in it, so a Service that is made anew has another balancer. */
export function balancerName(uid: string): string {
  return `a${uid.replaceAll('-', '')}`.slice(0, maxNameLength);
}

/** Of the group that is made for a classic balancer. */
export const groupName = (balancer: string): string => `k8s-elb-${balancer}`;

/** Which things are ours: of this cluster and of this Service, and made by us rather than lent to us. */
export function ownershipTags(cluster: string, { namespace, name }: Owner): Tags {
  return { [clusterTag(cluster)]: 'owned', [serviceTag]: `${namespace}/${name}` };
}

export function hasTags(found: Tags, wanted: Tags): boolean {
  return Object.entries(wanted).every(([key, value]) => found[key] === value);
}

const partLength = 8;
const plain = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, partLength);

/** Half of the ten characters that upstream's names have for a digest: sixty million values. */
const digestLength = 5;

function digest(parts: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const letters = BigInt(`0x${hash}`).toString(36);
  return letters.slice(-digestLength).padStart(digestLength, '0');
}

/** The beginning of the names of a Service's target groups, by which those are found that are tied to nothing. */
export function targetGroupPrefix(cluster: string, { namespace, name, uid }: Owner): string {
  return `k8s-${plain(namespace)}-${plain(name)}-${digest([cluster, uid])}`;
}

export type TargetGroupPort = {
  readonly port: number;
  readonly nodePort: number;
  readonly protocol: string;
};

/** What a target group can not change later is part of its name, so another value needs another group. */
export function targetGroupName(cluster: string, owner: Owner, wanted: TargetGroupPort): string {
  const { port, nodePort, protocol } = wanted;
  return `${targetGroupPrefix(cluster, owner)}${digest([port, nodePort, protocol])}`;
}
