// Where the world differs from the plan: hop by hop, and the first hop first. Pure.
import type { Path, Query, Trace } from '../trace.ts';
import { endpointDifferences } from './compare-endpoints.ts';
import type { Difference, LiveConnection, LiveQuery, LiveResolver, LiveTrace } from './live.ts';

export type Observed = Omit<LiveTrace, 'differences' | 'isAnswered' | 'sentence'>;

export function compareLive(trace: Trace, observed: Observed): LiveTrace {
  const { connections, queries, resolver, rules } = observed;
  const differences: readonly Difference[] = [
    ...(resolver === undefined ? [] : resolverDifferences(trace, resolver)),
    ...nameDifferences(trace, queries),
    ...rules.flatMap(rulesDifferences),
    ...connections.flatMap((one) => endpointDifferences(one, pathsTo(trace, one))),
    ...connections.flatMap((one) => connectionDifferences(one, pathsTo(trace, one))),
  ];
  const isAnswered = connections.some(isFullyAnswered);
  return {
    ...observed,
    differences,
    isAnswered,
    sentence: sentenceOf(differences, observed, isAnswered),
  };
}

/** The ways that were predicted for the address: more than one where nodes differ, and it may arrive at any. */
export function pathsTo(
  { paths }: Pick<Trace, 'paths'>,
  { address, port, endpoints: seen }: Pick<LiveConnection, 'address' | 'port' | 'endpoints'>,
): readonly Path[] {
  const same = paths.filter((path) => path.port === port);
  const exact = same.filter((path) => path.address === address);
  // A headless Service has one way for all its addresses.
  const found =
    exact.length > 0
      ? exact
      : same.filter(
          ({ entrance, endpoints = [] }) =>
            entrance.kind === 'headless' && endpoints.some((one) => one.address === address),
        );
  const atNodes = found.filter(({ nodes }) => seen.some(({ node }) => nodes.includes(node)));
  return atNodes.length > 0 ? atNodes : found;
}

export function isFullyAnswered({ attempts, results }: LiveConnection): boolean {
  return attempts > 0 && results.answered === attempts;
}

function resolverDifferences({ name, source }: Trace, found: LiveResolver): readonly Difference[] {
  const planned = name?.resolver;
  // Of nodes and of clients outside nothing was predicted.
  if (planned === undefined || source.kind !== 'pod' || planned.nameservers.length === 0) return [];
  const isKnown = planned.nameservers.every((one) => /^[0-9a-f.:]+$/i.test(one));
  const fields = [
    ...(isKnown ? [['nameserver', planned.nameservers, found.nameservers] as const] : []),
    ['search', planned.searches, found.searches] as const,
    ['ndots', [`${planned.ndots}`], [`${found.ndots}`]] as const,
  ];
  return fields.flatMap(([what, wanted, has]) => {
    if (wanted.join(' ') === has.join(' ')) return [];
    const [plannedText, observedText] = [wanted.join(' ') || 'none', has.join(' ') || 'none'];
    return [
      {
        ...({ hop: 'resolver', planned: plannedText, observed: observedText } as const),
        sentence: `resolv.conf has ${what} ${observedText}, where ${plannedText} was expected`,
      },
    ];
  });
}

/** A resolver that waits this long sends its query again. */
const slowMs = 1000;

function nameDifferences({ name }: Trace, queries: readonly LiveQuery[]): readonly Difference[] {
  return queries.flatMap((one) => {
    const planned = name?.queries.find(
      (query) => query.name === one.name && (query.type === one.type || one.type === 'any'),
    );
    const difference = planned === undefined ? [] : queryDifference(planned, one, name?.used);
    const slow =
      difference.length > 0 || one.tookMs === undefined || one.tookMs < slowMs
        ? []
        : [
            {
              ...({ hop: 'name', planned: 'an answer', observed: `${one.tookMs} ms` } as const),
              sentence: `${one.name} ${one.type}: answered only after ${one.tookMs} ms${one.why === undefined ? '' : ` (${one.why})`}`,
            },
          ];
    return [...difference, ...slow];
  });
}

type Used = NonNullable<NonNullable<Trace['name']>['used']>;

function queryDifference(
  planned: Query,
  found: LiveQuery,
  used: Used | undefined,
): readonly Difference[] {
  // Not predicted: other servers know, or what decides could not be read.
  const isPredicted = planned.answer !== 'outside' && planned.answer !== 'unknown';
  const isMissing = found.answer === 'not-answered' || found.answer === 'failed';
  if (!isPredicted && !isMissing) return [];
  const [plannedText, observedText] = [
    found.type === 'any' ? (used?.addresses ?? []).toSorted().join(', ') : answerText(planned),
    answerText(found),
  ];
  if (isPredicted && plannedText === observedText) return [];
  const where = found.server === undefined ? '' : ` by ${found.server}`;
  return [
    {
      ...({ hop: 'name', planned: plannedText, observed: observedText } as const),
      sentence: isMissing
        ? `${found.name} ${found.type}: ${observedText}${where}${found.why === undefined ? '' : ` (${found.why})`}, where ${plannedText} was expected`
        : `${found.name} ${found.type}: answered${where} with ${observedText}, where ${plannedText} was expected`,
    },
  ];
}

const words: Readonly<Record<LiveQuery['answer'] | Query['answer'], string>> = {
  records: 'records',
  'no-data': 'no data',
  'no-such-name': 'no such name',
  refused: 'a refusal',
  failed: 'a failure of the server',
  'not-answered': 'no answer',
  outside: 'an answer of other servers',
  unknown: 'an answer that is not known',
};

/** Addresses only: the order differs from answer to answer, and so does what is left of the TTL. */
function answerText({ answer, records }: Pick<LiveQuery | Query, 'answer' | 'records'>): string {
  if (answer !== 'records') return words[answer];
  const addresses = records.filter(({ type }) => type === 'A' || type === 'AAAA');
  const shown = (addresses.length > 0 ? addresses : records).map(({ data }) => data);
  return [...new Set(shown)].sort().join(', ');
}

function rulesDifferences({
  node,
  mode,
  missing,
  stale,
}: LiveTrace['rules'][number]): readonly Difference[] {
  const count = missing.length + stale.length;
  if (count === 0) return [];
  const [first = ''] = [...missing, ...stale];
  const what = missing.length > 0 ? 'lacks' : 'still has';
  const more = count === 1 ? '' : `, and differs in ${count - 1} more`;
  return [
    {
      ...({ hop: 'rules', planned: missing.length > 0 ? first : 'not there' } as const),
      observed: missing.length > 0 ? 'not there' : first,
      sentence: `the kernel of node ${node} (${mode}) ${what} ${first}${more}`,
    },
  ];
}

/** The result that a plan means; undefined: nothing was predicted. */
function plannedResult({ outcome }: Path): 'answered' | 'refused' | 'timeout' | undefined {
  switch (outcome.kind) {
    case 'answered':
      return 'answered';
    case 'refused':
      return 'refused';
    case 'dropped':
      return 'timeout';
    default:
      return undefined;
  }
}

function connectionDifferences(
  connection: LiveConnection,
  paths: readonly Path[],
): readonly Difference[] {
  const [planned, ...others] = new Set(paths.map(plannedResult));
  // Where nodes differ, and it is not known which one it was, nothing is compared.
  if (planned === undefined || others.length > 0) return [];
  const results = Object.entries(connection.results).filter(
    ([result]) => result !== planned && result !== 'untried' && !isSilence(result, planned),
  );
  if (results.length === 0) return [];
  const observed = resultsText(connection);
  const at = addressText(connection);
  return [
    {
      ...({ hop: 'connection', planned: resultWords[planned], observed } as const),
      sentence: `${at}: ${observed}, where ${resultWords[planned]} was expected${causeText(connection)}`,
    },
  ];
}

/** A datagram that is dropped, or that no one answers, looks the same. */
function isSilence(result: string, planned: string): boolean {
  return result === 'silent' && planned !== 'refused';
}

/** Where it went, if it did not come back. */
function causeText({ endpoints, results }: LiveConnection): string {
  const [only, ...others] = endpoints;
  if (only === undefined || others.length > 0) return '';
  const who =
    only.pod === undefined ? addressText(only) : `pod ${only.pod} at ${addressText(only)}`;
  if (results.refused !== undefined) return `: it reached ${who}, where nothing listens`;
  if (results.timeout !== undefined) return `: it was sent to ${who}, which does not answer`;
  return `: it reached ${who}`;
}

const resultWords: Readonly<Record<keyof LiveConnection['results'], string>> = {
  answered: 'an answer',
  silent: 'silence',
  refused: 'a refusal',
  timeout: 'no answer',
  reset: 'a reset',
  closed: 'an end right after the start',
  unreachable: 'no route',
  failed: 'a failure',
  untried: 'not tried',
};

export function resultsText({ attempts, results }: LiveConnection): string {
  const entries = Object.entries(results) as readonly (readonly [keyof typeof results, number])[];
  return entries
    .map(([result, count]) =>
      attempts === 1 ? resultWords[result] : `${count} of ${attempts} times ${resultWords[result]}`,
    )
    .join(', ');
}

export function addressText({
  address,
  port,
}: {
  readonly address: string;
  readonly port: number;
}): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function sentenceOf(
  [first, ...others]: readonly Difference[],
  { connections, queries }: Observed,
  isAnswered: boolean,
): string {
  if (first !== undefined) {
    const more =
      others.length === 0 ? '' : ` (${others.length} more differences follow from there on)`;
    return `The world differs from the plan, first at the ${hopWords[first.hop]}: ${first.sentence}${more}`;
  }
  if (connections.length === 0) {
    return queries.length === 0
      ? 'Nothing could be tried'
      : 'The name is answered as planned, and there is no address to connect to';
  }
  const [connection] = connections;
  const observed = connection === undefined ? '' : resultsText(connection);
  if (!isAnswered && connection?.results.untried !== undefined) {
    return `Not tried: ${connection.why ?? ''}`;
  }
  const isSilent = connection?.results.silent !== undefined;
  return `As ${isSilent ? 'far as can be seen, as ' : ''}planned: ${observed}`;
}

const hopWords: Readonly<Record<Difference['hop'], string>> = {
  resolver: 'resolver',
  name: 'name',
  rules: 'rules',
  endpoints: 'endpoints',
  connection: 'connection',
};
