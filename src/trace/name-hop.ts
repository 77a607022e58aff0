// How a resolver finds a name: the search list of resolv.conf, each query in order with its answer, and which answer is used.
import { isWithin, rootName, wireName } from '../dns/wire/names.ts';
import { types } from '../dns/wire/record-types.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead } from '../snapshot/snapshot.ts';
import { type Answered, answerQuestion } from './answer-question.ts';
import { hostsAddresses } from './hosts-file.ts';
import type { Source } from './resolve-source.ts';
import { zoneOf } from './snapshot-zone.ts';
import type { NameHop, Query, Resolver } from './trace.ts';

export type NameOptions = {
  readonly source: Pick<Source, 'hosts' | 'resolver' | 'usesClusterDns' | 'kind'>;
  readonly domain: string;
};

/** glibc, and all that follow it, send both for each name of the list. */
const queryTypes = ['A', 'AAAA'] as const;

export function resolveName(index: SnapshotIndex, name: string, options: NameOptions): NameHop {
  const { hosts, resolver, kind } = options.source;
  const inFile = hostsAddresses(hosts, name);
  if (inFile.length > 0) return hopOfHosts(inFile, { name, resolver, kind });
  const queries: Query[] = [];
  let found: Pick<NameHop, 'outcome' | 'used'> = { outcome: 'missing' };
  for (const candidate of searchNames(name, resolver)) {
    const pair = queryTypes.map((type) => query(index, candidate, type, options));
    queries.push(...pair);
    const end = endOf(candidate, pair);
    if (end === undefined) continue;
    found = end;
    break;
  }
  const marked = found.outcome === 'found' ? queries.map(markWasted(found.used?.name)) : queries;
  const wasted = marked.filter(({ isWasted }) => isWasted).length;
  const hop = { name, resolver, queries: marked, wasted, ...found };
  return { ...hop, sentence: nameSentence(hop, options) };
}

type HostsName = Pick<NameHop, 'name' | 'resolver'> & Pick<Source, 'kind'>;

function hopOfHosts(addresses: readonly string[], { name, resolver, kind }: HostsName): NameHop {
  const file = kind === 'outside' ? "the client's hosts file" : `the hosts file of the ${kind}`;
  return {
    ...{ name, resolver, queries: [], wasted: 0 },
    outcome: 'found',
    isInHostsFile: true,
    used: { name, addresses: ipv6First(addresses), ttlSeconds: 0 },
    sentence: `${name} is in ${file}: no query is sent`,
  };
}

/** resolv.conf(5): names with fewer dots than ndots go through the search list first. */
export function searchNames(
  name: string,
  { ndots, searches }: Pick<Resolver, 'ndots' | 'searches'>,
): readonly string[] {
  if (name.endsWith('.')) return [name];
  const listed = searches.map((suffix) => `${name}.${suffix}.`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [`${name}.`, ...listed] : [...listed, `${name}.`];
}

function query(
  index: SnapshotIndex,
  name: string,
  type: Query['type'],
  { source, domain }: NameOptions,
): Query {
  const wire = wireName(name);
  const none = { name, type, records: [], isTruncated: false, isWasted: false } as const;
  if (wire === undefined) return { ...none, answer: 'no-such-name' };
  if (!source.usesClusterDns) return { ...none, answer: 'outside' };
  const answered = answerQuestion(zoneOf(index), { name: wire, type: types[type] }, { domain });
  const { answers, continuesAt, isTruncated } = answered;
  const rest = { ...none, records: answers, isTruncated };
  if (answered.rcode === 'outside') return { ...rest, answer: 'outside' };
  if (answered.rcode === 'REFUSED') return { ...rest, answer: 'refused' };
  if (continuesAt.length > 0) return { ...rest, answer: 'outside' };
  if (answers.length > 0) return { ...rest, answer: 'records' };
  if (isUncertain(index, answered)) return { ...rest, answer: 'unknown' };
  return { ...rest, answer: answered.rcode === 'NXDOMAIN' ? 'no-such-name' : 'no-data' };
}

/** Whether what was not read could have a record. */
function isUncertain({ snapshot, service }: SnapshotIndex, { dependsOn }: Answered): boolean {
  if (dependsOn === undefined) return false;
  const { namespace, name } = dependsOn;
  const known = service(namespace, name);
  if (known === undefined) return !isRead(snapshot, 'services', namespace);
  const isHeadless = known.spec.clusterIP === 'None';
  return isHeadless && !isRead(snapshot, 'endpointSlices', namespace);
}

/** Undefined: the next name of the list is tried. An existing name without records is passed over as well. */
function endOf(
  name: string,
  pair: readonly Query[],
): Pick<NameHop, 'outcome' | 'used'> | undefined {
  const records = pair.flatMap((one) => one.records);
  const addresses = records.filter(({ type }) => type === 'A' || type === 'AAAA');
  if (addresses.length > 0) {
    const ttlSeconds = Math.min(...records.map(({ ttl }) => ttl));
    const used = { name, addresses: ipv6First(addresses.map(({ data }) => data)), ttlSeconds };
    return { outcome: 'found', used };
  }
  if (pair.some(({ answer }) => answer === 'outside')) return { outcome: 'outside' };
  return pair.some(({ answer }) => answer === 'unknown') ? { outcome: 'unknown' } : undefined;
}

/** As RFC 6724 and RFC 8305 have it; the caller removes families that the client lacks. */
function ipv6First(addresses: readonly string[]): readonly string[] {
  const isIPv6 = (address: string): boolean => address.includes(':');
  return [...new Set([...addresses].sort((a, b) => Number(isIPv6(b)) - Number(isIPv6(a))))];
}

function markWasted(used: string | undefined): (query: Query) => Query {
  return (query) => (query.name === used ? query : { ...query, isWasted: true });
}

function nameSentence(
  { name, outcome, used, wasted, queries, resolver }: Omit<NameHop, 'sentence'>,
  { source, domain }: NameOptions,
): string {
  switch (outcome) {
    case 'found': {
      const waste = wasted === 0 ? '' : `, after ${wasted} queries that find nothing`;
      return `${name} is ${used?.name ?? ''}${waste}; a client may use the answer for ${used?.ttlSeconds ?? 0} s`;
    }
    case 'missing':
      return `No name of the search list exists: ${[...new Set(queries.map((one) => one.name))].join(', ')}`;
    case 'unknown':
      return `Whether ${queries.at(-1)?.name ?? name} exists depends on objects that cannot be read`;
    case 'outside':
      return outsideSentence({ name, queries, resolver }, { source, domain });
  }
}

function outsideSentence(
  { name, queries, resolver }: Pick<NameHop, 'name' | 'queries' | 'resolver'>,
  { source, domain }: NameOptions,
): string {
  if (!source.usesClusterDns) {
    const isOurs = isWithin(wireName(name) ?? rootName, wireName(domain) ?? rootName);
    const limit = isOurs ? `, which does not know names below ${domain}` : '';
    return `${name} is resolved by ${resolver.source}${limit}`;
  }
  const alias = lastAlias(queries);
  return alias === undefined
    ? `${name} is no name of the cluster: its DNS forwards the query`
    : `${queries.at(-1)?.name ?? name} is an alias of ${alias}, outside of the cluster`;
}

/** Where the chain of aliases leads. */
export function lastAlias(queries: readonly Query[]): string | undefined {
  return queries
    .flatMap(({ records }) => records)
    .filter(({ type }) => type === 'CNAME')
    .at(-1)?.data;
}
