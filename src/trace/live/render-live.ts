// What became of a connection that was tried, as text for people.
import { printable } from '../../meta/printable.ts';
import { percent } from '../outcome.ts';
import type { RenderOptions } from '../render-trace.ts';
import { addressText, isFullyAnswered, resultsText } from './compare-live.ts';
import type { LiveConnection, LiveQuery, LiveRules, LiveTrace } from './live.ts';

/** Without -v. */
const maxRows = 8;
const maxBanner = 60;

/** By the label of their hop, with the marks of what is as planned and what is not. */
export function liveRows(
  live: LiveTrace,
  options: RenderOptions,
): readonly (readonly [string, readonly string[]])[] {
  const { site, queries, connections, rules, differences, notes } = live;
  const { style, isVerbose } = options;
  const first = differences[0];
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['tried', [site]],
    ['name', queries.map(queryRow)],
    ['rules', rules.flatMap((one) => rulesRows(one))],
    ['connection', connections.flatMap((one) => connectionRows(one, options))],
    [
      'differs',
      differences.map((one) =>
        one === first ? style.red(`${one.sentence}  <- first`) : style.yellow(one.sentence),
      ),
    ],
    ['note', notes.map(style.dim)],
  ];
  return rows.map(([label, texts]) => {
    const shown = isVerbose ? texts : texts.slice(0, maxRows);
    const hidden = texts.length - shown.length;
    return [
      label,
      [...shown, ...(hidden > 0 ? [style.dim(`and ${hidden} more; -v shows them`)] : [])],
    ];
  });
}

function queryRow({ name, type, answer, records, server, tookMs, why }: LiveQuery): string {
  const found =
    answer === 'records' ? records.map(({ data }) => data).join(', ') : answerWords[answer];
  const from = server === undefined ? '' : ` from ${server}`;
  const time = tookMs === undefined ? '' : ` after ${tookMs} ms`;
  const reason = why === undefined ? '' : ` (${why})`;
  return `${type === 'any' ? 'A AAAA' : type.padEnd(4)}  ${name}  ${found}${from}${time}${reason}`;
}

const answerWords: Readonly<Record<Exclude<LiveQuery['answer'], 'records'>, string>> = {
  'no-data': 'no data',
  'no-such-name': 'no such name',
  refused: 'refused',
  failed: 'failed',
  'not-answered': 'no answer',
};

function rulesRows({ node, mode, state, missing, stale, why }: LiveRules): readonly string[] {
  const who = `node ${node}, ${mode}`;
  switch (state) {
    case 'as-wanted':
      return [`${who}: the kernel has what the objects ask for`];
    case 'unknown':
      return [`${who}: not known: ${why ?? ''}`];
    case 'differ':
      return [
        ...missing.map((text) => `${who}: missing ${text}`),
        ...stale.map((text) => `${who}: stale ${text}`),
      ];
  }
}

function connectionRows(connection: LiveConnection, { style }: RenderOptions): readonly string[] {
  const { tookMs, endpoints, banner, why } = connection;
  const colour = isFullyAnswered(connection) ? style.green : style.red;
  const time = tookMs === undefined ? '' : ` after ${tookMs} ms`;
  const reason = why === undefined ? '' : ` (${why})`;
  return [
    `${addressText(connection)}: ${colour(resultsText(connection))}${time}${reason}`,
    ...endpoints.map(
      ({ attempts, chance, pod, node: _, ...address }) =>
        `  ${attempts} to ${addressText(address)}${pod === undefined ? '' : `, pod ${pod}`} (expected: ${percent(chance)})`,
    ),
    ...(banner === undefined ? [] : [`  it says: ${printable(banner.slice(0, maxBanner))}`]),
  ];
}
