// A trace as text for people: hop by hop, aligned, at most a screen.

import { formatLocalTime } from '../meta/local-time.ts';
import { printable } from '../meta/printable.ts';
import type { LiveTrace } from './live/live.ts';
import { liveRows } from './live/render-live.ts';
import { percent } from './outcome.ts';
import { nameRows } from './render-name.ts';
import type { EndHop, EndpointHop, Path, Trace, TraceVerdict } from './trace.ts';
import { nodesText } from './verdict.ts';

export type Style = Readonly<
  Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>
>;

export type RenderOptions = {
  readonly style: Style;
  /** Everything, however long. */
  readonly isVerbose: boolean;
};

/** Without -v. */
const maxPaths = 3;
const maxEndpoints = 6;
const maxEnds = 4;
const maxRules = 12;
/** Of the names of hops. */
const labelWidth = 11;

export function renderTrace(found: Trace, options: RenderOptions): string {
  const { style, isVerbose } = options;
  const trace = printableTrace(found);
  const { target, source, name, paths, verdict, live } = trace;
  const shown = isVerbose ? paths : paths.slice(0, maxPaths);
  const hidden = paths.length - shown.length;
  const lines = [
    `${style.bold(target.text)} from ${source.sentence}`,
    ...momentLines(trace, style),
    '',
    ...(name === undefined ? [] : hop('name', nameRows(name, options), style)),
    ...shown.flatMap((path) => [
      ...(paths.length > 1 ? ['', pathTitle(path, trace, style)] : []),
      ...pathLines(path, trace, options),
    ]),
    ...(hidden > 0 ? ['', style.dim(`and ${hidden} more ways; -v shows them`)] : []),
    '',
    verdictLine(verdict, style),
    ...(live === undefined ? [] : liveLines(live, options)),
    ...(isVerbose ? settingLines(trace, style) : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Names of users' programs, messages of containers and answers of DNS servers may have any character. */
function printableTrace(trace: Trace): Trace {
  const text = JSON.stringify(trace);
  if (text === printable(text) && !text.includes('\\')) return trace;
  const clean = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? printable(value) : value;
  return JSON.parse(text, clean) as Trace;
}

function liveLines(live: LiveTrace, options: RenderOptions): readonly string[] {
  const { style } = options;
  const isGood = live.differences.length === 0 && live.isAnswered;
  return [
    '',
    ...liveRows(live, options).flatMap(([label, rows]) => hop(label, rows, style)),
    '',
    (isGood ? style.green : style.red)(live.sentence),
  ];
}

function momentLines({ at }: Trace, { yellow }: Style): readonly string[] {
  if (at === undefined) return [];
  const present = at.present.map(kindWords);
  const now = present.length === 0 ? '' : `; ${present.join(', ')} as they are now`;
  return [yellow(`as it was at ${formatLocalTime(Date.parse(at.time))}${now}`)];
}

/** `serviceCIDRs` → `service CIDRs`. */
const kindWords = (kind: string): string =>
  kind.replaceAll(/[A-Z]+/g, (word) => ` ${word.length > 1 ? word : word.toLowerCase()}`);

function hop(label: string, rows: readonly string[], style: Style): readonly string[] {
  return rows.map((row, at) =>
    at === 0 ? style.bold(label.padEnd(labelWidth)) + row : ' '.repeat(labelWidth) + row,
  );
}

function pathTitle(
  { address, port, family, nodes }: Path,
  { source }: Trace,
  { cyan }: Style,
): string {
  const at =
    nodes.length === 0 ? '' : `, ${source.kind === 'outside' ? 'at' : 'from'} ${nodesText(nodes)}`;
  return cyan(`to ${addressText(address, port)} over ${family}${at}`);
}

function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function pathLines(path: Path, trace: Trace, options: RenderOptions): readonly string[] {
  const { style, isVerbose } = options;
  const { entrance, policy, endpoints = [], rules = [], ends } = path;
  const shownRules = isVerbose ? rules : rules.slice(0, maxRules);
  const hiddenRules = rules.length - shownRules.length;
  return [
    ...hop('address', [entrance.sentence], style),
    ...hop('policy', policy?.sentences ?? [], style),
    ...hop('endpoints', endpointRows(endpoints, options), style),
    ...hop(
      'rules',
      [...shownRules, ...(hiddenRules > 0 ? [style.dim(`and ${hiddenRules} more`)] : [])],
      style,
    ),
    ...hop('end', endRows(ends, options), style),
    ...(trace.paths.length > 1 ? hop('so', [coloured(path.outcome, style)], style) : []),
  ];
}

function endpointRows(
  endpoints: readonly EndpointHop[],
  { style, isVerbose }: RenderOptions,
): readonly string[] {
  if (endpoints.length === 0) return [];
  // Those that a connection may get come first.
  const sorted = [...endpoints].sort((a, b) => b.chance - a.chance);
  const shown = isVerbose ? sorted : sorted.slice(0, maxEndpoints);
  const rows = shown.map((one) => [
    addressText(one.address, one.port),
    one.pod ?? '-',
    one.node ?? '-',
    one.zone ?? '-',
    stateOf(one),
    one.chance > 0 ? percent(one.chance) : '-',
  ]);
  const notes = shown.map(({ sender, unused }) => unused ?? sender?.kind ?? '');
  const header = ['ADDRESS', 'POD', 'NODE', 'ZONE', 'STATE', 'CHANCE'];
  const table = columns([
    [...header, 'SENDER'],
    ...rows.map((row, at) => [...row, notes[at] ?? '']),
  ]);
  const [title = '', ...lines] = table;
  const hidden = sorted.length - shown.length;
  const senders = [
    ...new Set(
      shown.flatMap(({ sender }) =>
        sender === undefined ? [] : [`${sender.kind}: ${sender.sentence}`],
      ),
    ),
  ];
  return [
    style.dim(title),
    ...lines.map((line, at) => ((shown[at]?.chance ?? 0) > 0 ? line : style.dim(line))),
    ...(hidden > 0 ? [style.dim(`and ${hidden} more; -v shows them`)] : []),
    ...senders.map((text) => style.dim(`sender ${text}`)),
  ];
}

function stateOf({ ready, serving, terminating }: EndpointHop): string {
  if (terminating) return serving ? 'terminating, serving' : 'terminating';
  return ready ? 'ready' : 'not ready';
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    rows.reduce((width, row) => Math.max(width, (row[at] ?? '').length), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Ends about which there is the same to say stand in one line. */
function endRows(ends: readonly EndHop[], { style, isVerbose }: RenderOptions): readonly string[] {
  const groups = new Map<string, EndHop[]>();
  for (const end of ends) {
    const text = [
      ...(end.container === undefined
        ? []
        : [`container ${end.container} listens on port ${end.port} by spec`]),
      ...end.notes,
    ].join('; ');
    groups.set(text, [...(groups.get(text) ?? []), end]);
  }
  const rows = [...groups].map(([text, some]) => {
    const [first, ...others] = some;
    const who = first?.pod ?? first?.address ?? '';
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `${who}${more}: ${text === '' ? 'nothing is known' : text}`;
  });
  const shown = isVerbose ? rows : rows.slice(0, maxEnds);
  const hidden = rows.length - shown.length;
  return [...shown, ...(hidden > 0 ? [style.dim(`and ${hidden} more; -v shows them`)] : [])];
}

function verdictLine(verdict: TraceVerdict, style: Style): string {
  return coloured(verdict, style);
}

function coloured({ kind, sentence }: TraceVerdict, { green, red, yellow }: Style): string {
  switch (kind) {
    case 'answered':
      return green(sentence);
    case 'refused':
    case 'dropped':
    case 'no-such-name':
      return red(sentence);
    case 'not-for-a-service':
    case 'unknown':
      return yellow(sentence);
  }
}

function settingLines({ settings }: Trace, { dim }: Style): readonly string[] {
  const { domain, dnsAddresses, podRanges, proxyMode } = settings;
  const text = (value: string | readonly string[]): string =>
    typeof value === 'string' ? value : value.join(', ') || 'none';
  const all = { domain, 'DNS addresses': dnsAddresses, 'pod ranges': podRanges, mode: proxyMode };
  return [
    '',
    ...Object.entries(all).map(([name, { value, source }]) =>
      dim(`${name}: ${text(value)} (${source})`),
    ),
  ];
}
