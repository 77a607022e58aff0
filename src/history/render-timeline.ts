// A timeline as text for people: a line for each event, at most a screen of them unless more is wanted. What stops a Service from answering
// is never left out for what does not.
import { formatClock, formatDay, formatOffset, type LocalTimeOptions } from '../meta/local-time.ts';
import { printable } from '../meta/printable.ts';
import { serviceText } from './describe-service.ts';
import { durationText } from './duration-text.ts';
import type { EventLevel, History, HistoryEvent, ServiceState } from './history.ts';

type Colour = (text: string) => string;

export type RenderOptions = LocalTimeOptions & {
  readonly paint: Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Colour>>;
  /** Everything, and who made every change. */
  readonly isVerbose: boolean;
  readonly rows: number;
  readonly columns: number;
};

/** For title, summary and prompt. */
const reservedRows = 8;

export function renderTimeline(history: History, options: RenderOptions): string {
  const { paint } = options;
  const { from, to, shortened, events, start } = history;
  const lines = linesOf(events, options);
  const shown = options.isVerbose ? lines : fitting(lines, options);
  const title = `Service ${history.namespace}/${history.service}`;
  return [
    `${paint.bold(title)} from ${momentText(from, options)} to ${momentText(to, options)} (${formatOffset(Date.parse(to), options)})`,
    ...(shortened === undefined ? [] : [paint.yellow(shortened)]),
    '',
    ...eventLines([startLine(from, start, options), ...shown], options),
    '',
    summaryText(history, options),
    '',
  ].join('\n');
}

const momentText = (time: string, options: LocalTimeOptions): string =>
  `${formatDay(Date.parse(time), options)} ${formatClock(Date.parse(time), options).slice(0, 8)}`;

type Line = { readonly time: string; readonly rank: number; readonly text: string };

function startLine(time: string, start: ServiceState, { paint }: RenderOptions): Line {
  const { service, endpoints } = start;
  const text =
    service === undefined
      ? 'there is no such Service'
      : `${printable(serviceText(service))}; ${endpointsText(endpoints)}`;
  return { time, rank: 3, text: paint.dim(`at first: ${text}`) };
}

function endpointsText(endpoints: ServiceState['endpoints']): string {
  if (endpoints.length === 0) return 'no endpoints';
  const ready = endpoints.filter((one) => one.ready).length;
  return `${ready} of ${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'} ready`;
}

/** Endpoints that one write changed in the same way stand on one line. */
function linesOf(events: readonly HistoryEvent[], options: RenderOptions): readonly Line[] {
  const groups: HistoryEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1)?.[0];
    const isSame =
      event.endpoint !== undefined &&
      last?.resourceVersion === event.resourceVersion &&
      last.type === event.type &&
      !options.isVerbose;
    if (isSame) groups.at(-1)?.push(event);
    else groups.push([event]);
  }
  return groups.flatMap(([first, ...others]) =>
    first === undefined ? [] : [lineOf(first, others, options)],
  );
}

function lineOf(
  event: HistoryEvent,
  others: readonly HistoryEvent[],
  options: RenderOptions,
): Line {
  const { time, level, sentence } = event;
  const more = others.length === 0 ? '' : `, and ${others.length} more likewise`;
  const text = `${sentence}${more}${byText(event, options)}`;
  return { time, rank: rankOf(event), text: coloured(level, text, options) };
}

function rankOf({ level, object }: HistoryEvent): number {
  if (level === 'bad' || level === 'good') return 3;
  if (object.kind === 'Service') return 2;
  return level === 'warning' ? 1 : 0;
}

function coloured(level: EventLevel, text: string, { paint }: RenderOptions): string {
  switch (level) {
    case 'bad':
      return paint.red(paint.bold(text));
    case 'good':
      return paint.green(text);
    case 'warning':
      return paint.yellow(text);
    case 'info':
      return text;
  }
}

const kindsOfPeople: ReadonlySet<string> = new Set(['Service', 'Endpoints']);

/** That controllers and nodes do their work is no news. */
function byText({ user, manager, object }: HistoryEvent, { isVerbose }: RenderOptions): string {
  const isSystem = user === undefined || user.startsWith('system:');
  if (isSystem && !isVerbose && !kindsOfPeople.has(object.kind)) return '';
  // A server's name for managers that do not say their own.
  const tool = manager === undefined || manager === 'unknown' ? '' : printable(manager);
  if (user === undefined) return tool === '' ? '' : `, with ${tool}`;
  const who = printable(shortUser(user));
  return tool === '' || tool === who ? `, by ${who}` : `, by ${who} with ${tool}`;
}

/** `system:serviceaccount:kube-system:deployment-controller` → `deployment-controller`. */
function shortUser(user: string): string {
  if (!user.startsWith('system:')) return user;
  if (user.startsWith('system:node:')) return `node ${user.slice('system:node:'.length)}`;
  return user.slice(user.lastIndexOf(':') + 1);
}

/** The most important lines, and of equal ones the newest; where some are missing, a line says so. */
function fitting(lines: readonly Line[], { rows, columns }: RenderOptions): readonly Line[] {
  const room = Math.max(1, rows - reservedRows);
  const height = ({ text }: Line): number =>
    Math.max(1, Math.ceil((text.length + timeWidth) / columns));
  const total = lines.reduce((sum, line) => sum + height(line), 0);
  if (total <= room) return lines;
  const byRank = lines
    .map((line, at) => ({ line, at }))
    .sort((a, b) => b.line.rank - a.line.rank || b.at - a.at);
  const kept = new Set<number>();
  let left = room;
  for (const { line, at } of byRank) {
    left -= height(line);
    if (left < 0 && kept.size > 0) break;
    kept.add(at);
  }
  return lines.filter((_line, at) => kept.has(at));
}

/** `15:04:05.678  `. */
const timeWidth = 14;

function eventLines(lines: readonly Line[], options: RenderOptions): readonly string[] {
  let day = formatDay(Date.parse(lines[0]?.time ?? ''), options);
  return lines.flatMap(({ time, text }) => {
    const ms = Date.parse(time);
    const before = day;
    day = formatDay(ms, options);
    return [
      ...(day === before ? [] : [options.paint.dim(day)]),
      `${formatClock(ms, options).padEnd(timeWidth)}${text}`,
    ];
  });
}

const countText = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`;

function summaryText(history: History, options: RenderOptions): string {
  const { events, outages, end } = history;
  const { paint, isVerbose } = options;
  const all = linesOf(events, options);
  const hidden = isVerbose ? 0 : all.length - fitting(all, options).length;
  const lost = outages.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const open = outages.find(({ ended }) => ended === undefined);
  const parts = [
    countText(events.length, 'change'),
    ...(outages.length === 0
      ? [paint.green('no outage')]
      : [paint.red(`${countText(outages.length, 'outage')}, ${durationText(lost)} in all`)]),
    end.service === undefined
      ? 'there is no such Service now'
      : `now ${endpointsText(end.endpoints)}`,
  ];
  return [
    ...(hidden === 0
      ? []
      : [paint.dim(`${countText(hidden, 'line')} of lesser weight not shown; -v shows all`)]),
    ...(open === undefined
      ? []
      : [paint.red(paint.bold(`nothing answers since ${sinceText(open.began, options)}`))]),
    parts.join('; '),
  ].join('\n');
}

function sinceText(began: string | undefined, options: LocalTimeOptions): string {
  return began === undefined ? 'before that' : momentText(began, options);
}
