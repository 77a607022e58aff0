// The name hop as text: the resolver, then each query in order.
import type { RenderOptions } from './render-trace.ts';
import type { NameHop, Query } from './trace.ts';

/** Addresses of one answer that are shown without -v. */
const maxAddresses = 3;

export function nameRows(
  { resolver, queries, sentence, isInHostsFile }: NameHop,
  { style, isVerbose }: RenderOptions,
): readonly string[] {
  if (isInHostsFile === true) return [sentence];
  const { nameservers, searches, ndots, source, warnings } = resolver;
  const rows = queryRows(queries, isVerbose);
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  return [
    sentence,
    ...(nameservers.length === 0
      ? []
      : [style.dim(`${source}: nameserver ${nameservers.join(', ')}, ndots ${ndots}`)]),
    ...(searches.length === 0 ? [] : [style.dim(`search ${searches.join(' ')}`)]),
    ...rows.map(({ types, name, answer, isWasted }) => {
      const line = `${types.padEnd(6)}  ${name.padEnd(width)}  ${answer}`;
      return isWasted ? style.dim(line) : line;
    }),
    ...warnings.map(style.yellow),
  ];
}

type Row = {
  readonly types: string;
  readonly name: string;
  readonly answer: string;
  readonly isWasted: boolean;
};

/** Both types in one line where their answer is the same. */
function queryRows(queries: readonly Query[], isVerbose: boolean): readonly Row[] {
  const rows: Row[] = [];
  for (const query of queries) {
    const row = {
      types: query.type,
      name: query.name,
      answer: answerText(query, isVerbose),
      isWasted: query.isWasted,
    };
    const last = rows.at(-1);
    if (last?.name === row.name && last.answer === row.answer) {
      rows[rows.length - 1] = { ...last, types: `${last.types} ${row.types}` };
    } else rows.push(row);
  }
  return rows;
}

const texts: Readonly<Record<Exclude<Query['answer'], 'records'>, string>> = {
  'no-data': 'no data',
  'no-such-name': 'no such name',
  refused: 'refused',
  outside: 'forwarded to other servers',
  unknown: 'not known',
};

function answerText({ answer, records, isTruncated }: Query, isVerbose: boolean): string {
  const aliases = records
    .filter(({ type }) => type === 'CNAME')
    .map(({ data }) => `alias of ${data}`);
  if (answer !== 'records') return [...aliases, texts[answer]].join(', ');
  const addresses = records.filter(({ type }) => type !== 'CNAME').map(({ data }) => data);
  const shown = isVerbose ? addresses : addresses.slice(0, maxAddresses);
  const more = addresses.length - shown.length;
  const ttl = Math.min(...records.map((record) => record.ttl));
  return [
    ...aliases,
    ...shown,
    ...(more > 0 ? [`${more} more`] : []),
    `TTL ${ttl} s`,
    ...(isTruncated ? ['truncated: repeated over TCP'] : []),
  ].join(', ');
}
