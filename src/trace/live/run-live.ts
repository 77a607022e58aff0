// Tries what was explained, from the network of its source: the queries of the name, then the connections. Each step has a time limit.
import { parseResolverConfig } from '../../node/environment/resolver-config.ts';
import type { Protocol } from '../../proxy/model/state.ts';
import type { JudgedConnection } from '../judge-connection.ts';
import { searchNames } from '../name-hop.ts';
import type { Trace } from '../trace.ts';
import { liveEndpoints, type NodeFlow } from './compare-endpoints.ts';
import { type Observed, pathsTo } from './compare-live.ts';
import type { AttemptResult, LiveConnection, LiveQuery, LiveResolver, LiveRules } from './live.ts';
import type { Ask, Attempt, QueryAnswer } from './live-request.ts';

export type LiveLimits = {
  /** Of each query to each server, and of each connection. */
  readonly timeoutMs: number;
  /** Connections to each address. */
  readonly count: number;
};

/** A network in which this program can run processes. */
export type LiveSite = {
  readonly sentence: string;
  /** Where its resolv.conf is, for a process there. */
  readonly resolverPath: string;
  readonly ask: Ask;
  /** Nodes into whose kernel it can look. */
  readonly nodes: readonly string[];
  readonly atNode: (node: string) => Promise<Ask | { readonly why: string }>;
};

export type LivePlan = {
  readonly trace: Trace;
  /** The first packets at the nodes whose rules they meet. */
  readonly judged: readonly JudgedConnection[];
  /** What the proxy carries itself: the kernel does not know its endpoints. */
  readonly relayed: readonly Protocol[];
  readonly limits: LiveLimits;
};

/** Clients try them one after the other, and few try more. */
const maxAddresses = 4;
/** Kernels that are read for one trace. */
const maxNodes = 5;

export async function runLive(plan: LivePlan, site: LiveSite): Promise<Observed> {
  const notes: string[] = [];
  const named = await tryName(plan, site);
  const targets = targetsOf(plan.trace, named.queries);
  const connections: LiveConnection[] = [];
  for (const target of targets.slice(0, maxAddresses)) {
    connections.push(await tryConnection(plan, site, { target, notes }));
  }
  if (targets.length > maxAddresses) {
    notes.push(`only ${maxAddresses} of ${targets.length} addresses were tried`);
  }
  if (targets.length > 0 && targets[0]?.port === undefined) notes.push('there is no port to try');
  const rules = await readRules(plan, site);
  return { site: site.sentence, ...named, connections, rules, notes: [...new Set(notes)] };
}

type Named = { readonly resolver?: LiveResolver; readonly queries: readonly LiveQuery[] };

async function tryName(
  { trace, limits }: LivePlan,
  { ask, resolverPath }: LiveSite,
): Promise<Named> {
  const { name } = trace;
  // A client asks no server for what its hosts file has.
  if (name === undefined || name.isInHostsFile === true) return { queries: [] };
  const { text = '' } = await ask<'resolver'>({ kind: 'resolver', path: resolverPath });
  const resolver = liveResolver(text);
  const queries: LiveQuery[] = [];
  for (const candidate of searchNames(name.name, resolver)) {
    const { timeoutMs } = limits;
    const pair = await Promise.all(
      (['A', 'AAAA'] as const).map(async (type) => {
        const servers = resolver.nameservers;
        const answer = await ask<'query'>({
          kind: 'query',
          name: candidate,
          type,
          servers,
          timeoutMs,
        });
        return liveQuery({ name: candidate, type }, answer);
      }),
    );
    queries.push(...pair);
    const isOver = (one: LiveQuery): boolean =>
      one.records.some(({ type }) => type === one.type) || one.answer === 'not-answered';
    if (pair.some(isOver)) break;
  }
  return { resolver, queries };
}

const defaultNdots = 1;

export function liveResolver(text: string): LiveResolver {
  const { nameservers, searches, options } = parseResolverConfig(text);
  const ndots = options.findLast((option) => option.startsWith('ndots:'))?.slice(6);
  return {
    ...{ nameservers, searches, options },
    ndots: ndots !== undefined && /^\d{1,2}$/.test(ndots) ? Number(ndots) : defaultNdots,
  };
}

function liveQuery(
  question: Pick<LiveQuery, 'name' | 'type'>,
  { server, rcode, records, tookMs, why }: QueryAnswer,
): LiveQuery {
  return {
    ...question,
    ...{ server, tookMs },
    answer: answerOf(rcode, records.length),
    records: records.map(({ type, data }) => ({ type, data })),
    ...(rcode === undefined || rcode === 'NOERROR' || rcode === 'NXDOMAIN' ? {} : { why: rcode }),
    ...(why === undefined ? {} : { why }),
  };
}

function answerOf(rcode: string | undefined, records: number): LiveQuery['answer'] {
  switch (rcode) {
    case undefined:
      return 'not-answered';
    case 'NOERROR':
      return records === 0 ? 'no-data' : 'records';
    case 'NXDOMAIN':
      return 'no-such-name';
    case 'REFUSED':
      return 'refused';
    default:
      return 'failed';
  }
}

type Target = Pick<LiveConnection, 'address' | 'port' | 'protocol'>;

/** What the name really means there, where it was resolved; else the addresses of the plan. */
export function targetsOf(
  { target, paths, name }: Trace,
  queries: readonly LiveQuery[],
): readonly Target[] {
  const { port, protocol } = target;
  if (name === undefined || queries.length === 0) {
    const planned = paths.map(({ address, port }) => ({ address, port, protocol }));
    const key = ({ address, port }: Target): string => `${address} ${port}`;
    return [...new Map(planned.map((one) => [key(one), one])).values()];
  }
  if (port === undefined) return [];
  const found = (type: string) =>
    queries.flatMap((one) => one.records.filter((record) => record.type === type));
  const addresses = [...found('AAAA'), ...found('A')].map(({ data }) => data);
  const families = new Set(paths.map(({ family }) => family));
  const isUsed = (ip: string): boolean =>
    families.size === 0 || families.has(ip.includes(':') ? 'IPv6' : 'IPv4');
  return [...new Set(addresses)].filter(isUsed).map((address) => ({ address, port, protocol }));
}

async function tryConnection(
  { trace, limits, relayed }: LivePlan,
  site: LiveSite,
  { target, notes }: { readonly target: Target; readonly notes: string[] },
): Promise<LiveConnection> {
  const { attempts } = await site.ask<'connect'>({
    ...{ kind: 'connect', ...target, ...limits },
    ...(target.protocol === 'UDP' && target.port === dnsPort ? { payload: rootQuery } : {}),
  });
  const connection = liveConnection(target, attempts);
  const paths = pathsTo(trace, connection);
  if (relayed.includes(target.protocol) && paths.some(({ policy }) => policy !== undefined)) {
    notes.push('the proxy carries connections itself: to which endpoints is not seen');
    return connection;
  }
  const flows = await seenFlows(site, target, attempts).catch((error: unknown) => {
    notes.push(`where connections went is not known: ${String(error)}`);
    return [];
  });
  return { ...connection, endpoints: liveEndpoints(flows, paths) };
}

const dnsPort = 53;
/** The name servers of the root, which every DNS server answers in some way. */
const rootQuery = '1d5f010000010000000000000000020001';

export function liveConnection(target: Target, attempts: readonly Attempt[]): LiveConnection {
  const results: Partial<Record<AttemptResult, number>> = {};
  for (const { result } of attempts) results[result] = (results[result] ?? 0) + 1;
  const [first] = attempts;
  const why = attempts.find((one) => one.why !== undefined)?.why;
  return {
    ...target,
    attempts: attempts.length,
    results,
    ...(first === undefined ? {} : { tookMs: first.tookMs }),
    endpoints: [],
    ...(first?.banner === undefined ? {} : { banner: first.banner }),
    ...(why === undefined ? {} : { why }),
  };
}

/** The node that translates a connection is that of the source, or for clients outside the one at which it arrives: any of them. */
async function seenFlows(
  site: LiveSite,
  { address, port, protocol }: Target,
  attempts: readonly Attempt[],
): Promise<readonly NodeFlow[]> {
  const sourcePorts = attempts.flatMap(({ sourcePort }) => sourcePort ?? []);
  const found = new Map<number, NodeFlow>();
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  for (const node of site.nodes.slice(0, maxNodes)) {
    const ask = await site.atNode(node);
    if ('why' in ask || sourcePorts.length === 0) continue;
    const request = {
      kind: 'flows',
      family,
      protocol,
      destination: address,
      port,
      sourcePorts,
    } as const;
    const { flows } = await ask<'flows'>(request);
    for (const flow of flows) {
      const known = found.get(flow.sourcePort);
      // At a node that only passes it on, it goes where it went before.
      if (known === undefined || known.address === address)
        found.set(flow.sourcePort, { ...flow, node });
    }
  }
  return [...found.values()];
}

async function readRules(
  { trace, judged }: LivePlan,
  site: LiveSite,
): Promise<readonly LiveRules[]> {
  const mode = trace.settings.proxyMode.value;
  const found: LiveRules[] = [];
  for (const { judgement, rules, node } of judged) {
    const isWanted = judgement.target !== undefined && site.nodes.includes(node);
    if (!isWanted || found.length >= maxNodes) continue;
    const base = { node, mode, missing: [], stale: [] } as const;
    const ask = await site.atNode(node);
    if ('why' in ask) {
      found.push({ ...base, state: 'unknown', why: ask.why });
      continue;
    }
    try {
      const {
        missing,
        stale = [],
        why,
      } = await ask<'rules'>({ kind: 'rules', mode, state: rules.state });
      if (missing === undefined) found.push({ ...base, state: 'unknown', why: why ?? '' });
      else {
        const state = missing.length + stale.length === 0 ? 'as-wanted' : 'differ';
        found.push({ ...base, state, missing, stale });
      }
    } catch (error) {
      found.push({ ...base, state: 'unknown', why: String(error) });
    }
  }
  return found;
}
