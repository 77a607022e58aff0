// A comparison as text for people: the verdict, what the changes come to, and Service by Service, at most a screen of them.
import { printable } from '../meta/printable.ts';
import { percent } from '../trace/outcome.ts';
import { type MergedView, mergeViews } from './merge-views.ts';
import type { EntranceChange, Level, NameChange, ServiceComparison, WhatIf } from './what-if.ts';
import { counted, namesText } from './words.ts';

type Colour = (text: string) => string;

export type RenderOptions = {
  readonly paint: Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Colour>>;
  /** All Services and endpoints, and no limit. */
  readonly isVerbose: boolean;
  readonly columns: number;
  readonly rows: number;
};

type Line = { readonly text: string; readonly colour?: keyof RenderOptions['paint'] };

/** Lines that are left for the verdict, for the last line, and for the prompt. */
const reservedRows = 6;
/** Of one view, without -v. */
const maxEndpoints = 6;
const maxViews = 3;
const maxNames = 4;

const colours: Readonly<Record<Level, keyof RenderOptions['paint']>> = {
  none: 'green',
  change: 'cyan',
  interruption: 'yellow',
  outage: 'red',
};

export function renderWhatIf(found: WhatIf, options: RenderOptions): string {
  const { verdict, changes, services } = found;
  const head: readonly Line[] = [
    { text: verdict.sentence, colour: colours[verdict.level] },
    ...cut(changes, options).map((text) => ({ text: `  ${text}`, colour: 'dim' }) as const),
    ...waitingLines(found),
  ];
  const tail = assumptionLines(found);
  const blocks = services.map((service) => serviceLines(service, options));
  const used = [...head, ...tail].reduce(
    (sum, line) => sum + heightOf(line, options),
    reservedRows,
  );
  const fitting = options.isVerbose ? blocks.length : countFitting(blocks, used, options);
  const hidden = blocks.length - fitting;
  const lines: readonly Line[] = [
    ...head,
    ...blocks.slice(0, fitting).flatMap((block) => [{ text: '' }, ...block]),
    ...(hidden === 0
      ? []
      : [{ text: '' }, { text: `and ${counted(hidden, 'more Service')}; -v shows all` }]),
    ...(tail.length === 0 ? [] : [{ text: '' }, ...tail]),
  ];
  return lines.map((line) => `${painted(line, options)}\n`).join('');
}

/** Objects and messages are of others: what a terminal would obey is written out. */
function painted({ text, colour }: Line, { paint }: RenderOptions): string {
  const safe = printable(text);
  return colour === undefined ? safe : paint[colour](safe);
}

const heightOf = ({ text }: Line, { columns }: RenderOptions): number =>
  Math.max(1, Math.ceil(text.length / Math.max(1, columns)));

/** The first block is shown whatever its size. */
function countFitting(
  blocks: readonly (readonly Line[])[],
  used: number,
  options: RenderOptions,
): number {
  let rows = options.rows - used;
  let count = 0;
  for (const lines of blocks) {
    rows -= lines.reduce((sum, line) => sum + heightOf(line, options), 1);
    if (rows < 0 && count > 0) break;
    count += 1;
  }
  return count;
}

/** Changes without -v: a directory of manifests has many. */
const maxChanges = 8;

function cut(lines: readonly string[], { isVerbose }: RenderOptions): readonly string[] {
  if (isVerbose || lines.length <= maxChanges) return lines;
  const hidden = lines.length - maxChanges;
  return [...lines.slice(0, maxChanges), `and ${counted(hidden, 'more change')}; -v shows them`];
}

function waitingLines({ pods }: WhatIf): readonly Line[] {
  return pods.unscheduled.map(({ namespace, owner, count, message }) => ({
    text: `  ${counted(count, 'new pod')} of ${owner} in namespace ${namespace} find${count === 1 ? 's' : ''} no node: ${message}`,
    colour: 'yellow',
  }));
}

function assumptionLines({ assumptions, unread }: WhatIf): readonly Line[] {
  const lists = unread.filter(({ reason }) => reason !== 'not-served').map(({ kind }) => kind);
  const all = [
    ...assumptions,
    ...(lists.length === 0 ? [] : [`Not read: ${[...new Set(lists)].sort().join(', ')}`]),
  ];
  if (all.length === 0) return [];
  return [
    { text: 'Taken for granted:', colour: 'dim' },
    ...all.map((text) => ({ text: `  ${text}`, colour: 'dim' }) as const),
  ];
}

function serviceLines(service: ServiceComparison, options: RenderOptions): readonly Line[] {
  const { namespace, name, level, sentence, names, entrances } = service;
  const views = mergeViews(service.views);
  const shown = options.isVerbose ? views : views.slice(0, maxViews);
  const hidden = views.length - shown.length;
  return [
    {
      text: `${namespace}/${name} ${sentence}`,
      colour: level === 'change' ? 'bold' : colours[level],
    },
    ...shown.flatMap((view) => viewLines(view, namespace, options)),
    ...(hidden === 0 ? [] : [dim(`  and ${counted(hidden, 'more view')}; -v shows them`)]),
    ...connectionLines(service, options),
    ...entranceLines(entrances),
    ...nameLines(names, options),
  ];
}

const dim = (text: string): Line => ({ text, colour: 'dim' });

function viewLines(view: MergedView, namespace: string, options: RenderOptions): readonly Line[] {
  const { titles, before, meanwhile, after, endpoints, zones } = view;
  const path = [before, ...(meanwhile === undefined ? [] : [meanwhile]), after];
  const isSame = path.every((one) => one === before);
  const outcomes = isSame ? '' : `: ${path.join(', then ')}`;
  const shown = options.isVerbose ? endpoints : endpoints.slice(0, maxEndpoints);
  const hidden = endpoints.length - shown.length;
  const rows = shown.map((one) => [
    one.isNew ? 'a new pod' : (withoutPrefix(one.pod, `${namespace}/`) ?? one.address),
    one.node ?? '-',
    one.zone ?? '-',
    shareText(one.before),
    shareText(one.after),
  ]);
  const zoneText = zones.map(
    (one) => `${one.zone} ${shareText(one.before)} → ${shareText(one.after)}`,
  );
  return [
    { text: `  ${titles.join('; ')}${outcomes}` },
    ...table([['ENDPOINT', 'NODE', 'ZONE', 'BEFORE', 'AFTER'], ...rows]),
    ...(hidden === 0 ? [] : [dim(`    and ${counted(hidden, 'more endpoint')}; -v shows them`)]),
    ...(zones.length < 2 ? [] : [{ text: `    by zone: ${zoneText.join(', ')}` }]),
  ];
}

const shareText = (share: number): string => (share === 0 ? '-' : percent(share));

const withoutPrefix = (text: string | undefined, prefix: string): string | undefined =>
  text?.startsWith(prefix) ? text.slice(prefix.length) : text;

const isAlways: ReadonlySet<string> = new Set(['BEFORE', 'AFTER']);

/** Without other columns that have nothing to say. */
function table(rows: readonly (readonly string[])[]): readonly Line[] {
  const [header = [], ...others] = rows;
  if (others.length === 0) return [];
  const used = header.map(
    (title, at) => isAlways.has(title) || others.some((row) => row[at] !== '-'),
  );
  const safe = rows.map((row) => row.filter((_cell, at) => used[at]).map(printable));
  const widths = (safe[0] ?? []).map((_none, at) =>
    Math.max(...safe.map((row) => (row[at] ?? '').length)),
  );
  const text = (row: readonly string[]): string =>
    `    ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd();
  return safe.map((row, at) => (at === 0 ? dim(text(row)) : { text: text(row) }));
}

function connectionLines(
  { namespace, connections: { ends, stays, affinitySeconds } }: ServiceComparison,
  { isVerbose }: RenderOptions,
): readonly Line[] {
  const max = isVerbose ? Number.POSITIVE_INFINITY : maxNames;
  const listed = (pods: readonly string[]): string =>
    namesText(
      pods.map((pod) => withoutPrefix(pod, `${namespace}/`) ?? ''),
      max,
    );
  const grace = Math.max(0, ...ends.map(({ graceSeconds = 0 }) => graceSeconds));
  const within = grace === 0 ? '' : `, within ${grace} s`;
  return [
    ...(ends.length === 0
      ? []
      : [
          {
            text: `  connections to ${listed(ends.map(({ pod }) => pod))} end${within}`,
          },
        ]),
    ...(affinitySeconds === undefined
      ? []
      : [{ text: '  clients that sessionAffinity binds to these get another pod' }]),
    ...(stays.length === 0
      ? []
      : [{ text: `  open TCP connections to ${listed(stays)} go on, and there are no new ones` }]),
  ];
}

function entranceLines(entrances: readonly EntranceChange[]): readonly Line[] {
  return entrances.map(({ change, kind, address, port, protocol }) => {
    const where =
      address === undefined ? '' : `${address.includes(':') ? `[${address}]` : address}:`;
    return { text: `  ${change}: ${kind} ${where}${port}/${protocol}` };
  });
}

function nameLines(names: readonly NameChange[], { isVerbose }: RenderOptions): readonly Line[] {
  const max = isVerbose ? Number.POSITIVE_INFINITY : maxNames;
  const shown = names.slice(0, max);
  const hidden = names.length - shown.length;
  return [
    ...shown.map(({ change, name, type, before, after }) => {
      const records =
        change === 'changes' ? `: ${recordsText(before)} → ${recordsText(after)}` : '';
      return { text: `  name ${name} ${type} ${change}${records}` };
    }),
    ...(hidden === 0 ? [] : [dim(`  and ${counted(hidden, 'more name')}; -v shows them`)]),
  ];
}

const recordsText = (records: readonly string[]): string => namesText(records, maxNames);
