// What the kernel holds of this mode.
import type { Ipvs, VirtualService, VirtualServiceKey } from '../../../host/netlink/ipvs.ts';
import type { Element } from '../../../host/nftables/objects.ts';
import { parseAddress } from '../../../ip/address.ts';
import { type Cidr, containsAddress } from '../../../ip/cidr.ts';
import type { Family } from '../../model/state.ts';
import { type Kernel, type LocalAddresses, listServicesOf } from './apply-kernel.ts';
import { choiceChainName } from './chains.ts';
import {
  type Contents,
  keyText,
  type ServerContents,
  serverText,
  serviceText,
} from './contents.ts';
import { allSets, servers, tableOf, writtenRules } from './layout.ts';

export type TableContents = Pick<Contents, 'elements' | 'choices'> & {
  readonly isThere: boolean;
  readonly rules: number;
};

/** Only those elements whose sets are asked for. */
export async function readTable(
  { table: access }: Pick<Kernel, 'table'>,
  family: Family,
  sets = allSets,
): Promise<TableContents> {
  const table = tableOf(family);
  const names = await access.readNames(table);
  const elements = new Map<string, ReadonlyMap<string, Element>>();
  for (const set of sets) {
    if (!names?.sets.has(set.name)) continue;
    const listed = await access.readElements(table, set);
    elements.set(set.name, new Map(listed.map((one) => [keyText(one), one])));
  }
  const chains = names?.chains ?? new Map<string, number>();
  const choices = [...chains].flatMap(([name, rules]) => {
    const count = Number(/^choose-(\d+)$/.exec(name)?.[1]);
    return name === choiceChainName(count) && rules > 0 ? [count] : [];
  });
  return {
    isThere: names !== undefined,
    elements,
    choices: new Set(choices),
    rules: [...chains]
      .filter(([name]) => !name.startsWith('choose-'))
      .reduce((sum, [, rules]) => sum + rules, 0),
  };
}

export function hasFingerprint({ elements }: TableContents, fingerprint: Element): boolean {
  return elements.get(writtenRules.name)?.has(keyText(fingerprint)) ?? false;
}

export type ServerLists = { readonly ipvs: Pick<Ipvs, 'listServices' | 'listDestinations'> };

export type ServerQuestion = {
  readonly family: Family;
  /** Virtual servers there are never ours (IVS-10). */
  readonly excludeCIDRs: readonly Cidr[];
  readonly addresses: LocalAddresses;
  /** The table, as it was found: its list of servers says which are ours. */
  readonly table: TableContents;
  /** Desired ones count as ours, whichever program made them. */
  readonly isWanted: (key: string) => boolean;
};

/** Other programs may have virtual servers too: those are not among the answer. */
export async function readServers(
  { ipvs }: ServerLists,
  { family, excludeCIDRs, addresses, table, isWanted }: ServerQuestion,
): Promise<Contents['servers']> {
  const written = table.elements.get(servers.name);
  const onDummy = new Set(addresses.ours);
  const found = new Map<string, ServerContents>();
  for (const service of await listServicesOf(ipvs, family)) {
    const key = serviceText(service);
    const isOurs = isWanted(key) || written?.has(key) || onDummy.has(service.address);
    if (!isOurs || isExcluded(service.address, excludeCIDRs)) continue;
    found.set(key, { service, realServers: await readRealServers(ipvs, service) });
  }
  // The kernel's list may omit servers. A desired one shows when it is added (EEXIST). Others are assumed to exist: deleting a missing server
  // does nothing, but after the table is rewritten an existing one could not be recognized as ours.
  for (const [key, element] of written ?? []) {
    if (found.has(key) || isWanted(key)) continue;
    const service = serviceOf(element);
    if (service === undefined || isExcluded(service.address, excludeCIDRs)) continue;
    found.set(key, { service, realServers: new Map() });
  }
  return found;
}

function serviceOf({ key: [address, word, port] }: Element): VirtualService | undefined {
  const protocol = (['TCP', 'UDP', 'SCTP'] as const).find((one) => one.toLowerCase() === word);
  if (protocol === undefined) return undefined;
  return { address: String(address), protocol, port: Number(port), scheduler: '' };
}

export async function readRealServers(
  ipvs: Pick<Ipvs, 'listDestinations'>,
  service: VirtualServiceKey,
): Promise<ServerContents['realServers']> {
  const listed = await ipvs.listDestinations(service);
  return new Map(
    listed.map(({ address, port, weight }) => {
      const one = { address, port, weight };
      return [serverText(one), one];
    }),
  );
}

function isExcluded(text: string, ranges: readonly Cidr[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && ranges.some((range) => containsAddress(range, address));
}
