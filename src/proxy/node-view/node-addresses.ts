// The addresses of the node, and those on which node ports answer (KPX-30).
import { isLinkLocalUnicast, isLoopback, parseAddress } from '../../ip/address.ts';
import { containsAddress, containsCidr, parseCidr } from '../../ip/cidr.ts';
import { addressesOfFamily, rangesOfFamily } from '../../ip/family-address.ts';
import type { Family, NodePortAddresses } from '../model/state.ts';
import type { NodeObject } from './node-object.ts';

/** In place of ranges: the node's first address of each family. */
export const primaryOnly = 'primary';

export type AddressFacts = {
  readonly family: Family;
  /** From a flag; the first address if present. */
  readonly bindAddress?: string;
  /** Absent while the node has no object. */
  readonly node?: NodeObject;
  /** Addresses of the machine's interfaces, loopback included. */
  readonly interfaceAddresses: readonly string[];
};

/**
 * The node's addresses of the family, the primary one first. Addresses of interfaces count only if neither flag nor Node object names
 * any: they change with pods, and every change here is a full sync.
 */
export function nodeAddresses(facts: AddressFacts): readonly string[] {
  const { family, bindAddress = '', node, interfaceAddresses } = facts;
  const reported = node?.status.addresses ?? [];
  const ofType = (wanted: string): readonly string[] =>
    reported.filter(({ type }) => type === wanted).map(({ address }) => address);
  const configured = isAny(bindAddress) ? [] : [bindAddress];
  const addresses = addressesOfFamily(
    [...configured, ...ofType('InternalIP'), ...ofType('ExternalIP')],
    family,
  );
  return addresses.length > 0
    ? addresses
    : addressesOfFamily(interfaceAddresses.filter(isRoutable), family);
}

const isAny = (text: string): boolean => parseAddress(text)?.value === 0n;

function isRoutable(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && !isLoopback(address) && !isLinkLocalUnicast(address);
}

/** Whether node ports are requested on the loopback only. */
export function isLoopbackOnly(setting: readonly string[]): boolean {
  return setting.length > 0 && setting.every(isLoopbackRange);
}

function isLoopbackRange(text: string): boolean {
  const range = parseCidr(text);
  return range !== undefined && loopbackRanges.some((loopback) => containsCidr(loopback, range));
}

const loopbackRanges = ['127.0.0.0/8', '::1/128'].flatMap((text) => parseCidr(text) ?? []);

export type NodePortFacts = {
  readonly family: Family;
  readonly nodeIPs: readonly string[];
  readonly interfaceAddresses: readonly string[];
  /** The mode's default. */
  readonly whenUnset: 'all' | 'primary';
};

export function nodePortAddresses(
  setting: readonly string[],
  { family, nodeIPs, interfaceAddresses, whenUnset }: NodePortFacts,
): NodePortAddresses {
  const isPrimary = setting.length === 0 ? whenUnset === 'primary' : setting.includes(primaryOnly);
  if (isPrimary) return nodeIPs.slice(0, 1);
  const ranges = rangesOfFamily(setting, family);
  // Without ranges of this family, it is not restricted.
  if (ranges.length === 0 || ranges.some((range) => range.endsWith('/0'))) return 'all';
  const cidrs = ranges.map(parseCidr).filter((cidr) => cidr !== undefined);
  return addressesOfFamily(interfaceAddresses, family).filter((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => containsAddress(cidr, address));
  });
}
