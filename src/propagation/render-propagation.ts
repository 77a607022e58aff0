// A propagation as text for people: a table of the parts, and a line for each change.
import { formatClock, type LocalTimeOptions } from '../meta/local-time.ts';
import { printable } from '../meta/printable.ts';
import { tableLines } from '../meta/text-table.ts';
import type { ChangeType, PartState, Propagation, PropagationChange } from './propagation.ts';
import { partName } from './state-of.ts';

type Colour = (text: string) => string;

export type RenderOptions = LocalTimeOptions & {
  readonly paint: Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Colour>>;
  readonly isVerbose: boolean;
  readonly rows: number;
  readonly columns: number;
  /** Shown below the table, as of a server that is lost. */
  readonly note?: string;
};

/** For title, note, nodes and prompt. */
const reservedRows = 8;

export function renderPropagation(report: Propagation, options: RenderOptions): string {
  const { paint, isVerbose, note, columns } = options;
  const { nodesWithoutProxy } = report;
  // Where not all fit, what is not current comes first.
  const room = Math.max(1, options.rows - reservedRows);
  const isTight = !isVerbose && report.parts.length > room;
  const parts = isTight ? [...report.parts].sort(bySeverity).slice(0, room) : report.parts;
  const [header, ...lines] = tableLines([
    ['PART', 'NODE', 'MODE', 'STATE', 'REVISION', 'SINCE', 'BEHIND'],
    ...parts.map((part) => cellsOf(part, options).map(printable)),
  ]);
  const fit = (text: string): string => (isVerbose ? text : cut(text, columns));
  return [
    ...titleLines(report, options),
    ...(report.parts.length === 0 ? [] : ['', paint.dim(fit(header ?? ''))]),
    ...lines.map((line, at) => coloured(parts[at], fit(line), options)),
    ...(isTight ? [paint.dim(`and ${report.parts.length - room} more; -v shows them`)] : []),
    ...(nodesWithoutProxy.length === 0
      ? []
      : [
          '',
          paint.yellow(
            fit(`nodes without a proxy of Fairlead: ${namesText(nodesWithoutProxy, isVerbose)}`),
          ),
        ]),
    ...(note === undefined ? [] : ['', paint.yellow(fit(printable(note)))]),
    '',
  ].join('\n');
}

/** On two lines where one is too short: what is painted again must not be wider than the terminal. */
function titleLines(report: Propagation, options: RenderOptions): readonly string[] {
  const { namespace, service, revision } = report;
  const name = `Service ${namespace}/${service}`;
  const rest = `revision ${printable(revision)}: ${summary(report, { ...options, paint: unpainted })}`;
  const painted = `revision ${printable(revision)}: ${summary(report, options)}`;
  const { paint, columns, isVerbose } = options;
  if (isVerbose || name.length + rest.length + 2 < columns)
    return [`${paint.bold(name)}, ${painted}`];
  return [paint.bold(cut(name, columns)), rest.length < columns ? painted : cut(rest, columns)];
}

const same = (text: string): string => text;
const unpainted = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

const cut = (text: string, columns: number): string =>
  text.length < columns ? text : text.slice(0, Math.max(1, columns - 1));

const severity = { 'no-answer': 0, behind: 1, current: 2 } as const;
const bySeverity = (a: PartState, b: PartState): number => severity[a.state] - severity[b.state];

function summary({ parts, state }: Propagation, { paint }: RenderOptions): string {
  if (parts.length === 0) return paint.red('no proxy or DNS server of Fairlead is connected');
  const current = parts.filter((part) => part.state === 'current').length;
  const text =
    current === parts.length
      ? `in effect in ${parts.length === 1 ? 'the one part' : `all ${parts.length} parts`}`
      : `in effect in ${current} of ${parts.length} parts`;
  return state === 'current' ? paint.green(text) : paint.yellow(text);
}

function cellsOf(part: PartState, options: LocalTimeOptions): readonly string[] {
  const { kind, node, mode = '-', state, revision = '-', since, sinceBefore, reason } = part;
  const begin = since === undefined ? '-' : formatClock(Date.parse(since), options);
  const words = { current: 'current', behind: 'behind', 'no-answer': 'no answer' };
  return [
    ...[kind, node, mode, words[state], revision],
    sinceBefore === true ? `before ${begin}` : begin,
    reason ?? lagText(part),
  ];
}

export function lagText({ behindRevisions, behindMilliseconds }: PartState): string {
  return [
    ...(behindRevisions === undefined
      ? []
      : [`${behindRevisions} ${behindRevisions === 1 ? 'change' : 'changes'}`]),
    ...(behindMilliseconds === undefined ? [] : [`${behindMilliseconds} ms`]),
  ].join(', ');
}

function coloured(part: PartState | undefined, line: string, { paint }: RenderOptions): string {
  switch (part?.state) {
    case 'behind':
      return paint.yellow(line);
    case 'no-answer':
      return paint.red(line);
    default:
      return line;
  }
}

/** Of one line. */
const maxNames = 5;

function namesText(names: readonly string[], isVerbose: boolean): string {
  const shown = isVerbose ? names : names.slice(0, maxNames);
  const more = names.length - shown.length;
  return `${shown.map(printable).join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Changes of one kind are one line. */
export function renderChanges(
  changes: readonly PropagationChange[],
  options: RenderOptions,
): string {
  const groups = new Map<ChangeType, PropagationChange[]>();
  for (const change of changes) {
    groups.set(change.type, [...(groups.get(change.type) ?? []), change]);
  }
  return [...groups.values()]
    .map((group) => {
      const [first] = group;
      const at = first === undefined ? '' : formatClock(Date.parse(first.time), options);
      return `${at}  ${changeText(group, options)}\n`;
    })
    .join('');
}

function changeText(group: readonly PropagationChange[], options: RenderOptions): string {
  const { paint, isVerbose } = options;
  const [first] = group;
  if (first === undefined) return '';
  const revision = printable(first.revision);
  const details = group.map((change) => detailText(change));
  const who = namesText(details, isVerbose);
  switch (first.type) {
    case 'RevisionChanged':
      return `revision ${revision}`;
    case 'PartConnected':
      return `connected: ${who}`;
    case 'PartDisconnected':
      return paint.yellow(`no longer connected: ${who}`);
    case 'PartCurrent':
      return `revision ${revision} in effect: ${who}`;
    case 'PartBehind':
      return paint.yellow(`behind: ${who}`);
    case 'PartNoAnswer':
      return paint.red(`no answer: ${who}`);
    case 'NodeHasProxy':
      return `nodes with a proxy of Fairlead now: ${who}`;
    case 'NodeWithoutProxy':
      return paint.yellow(`nodes without a proxy of Fairlead: ${who}`);
    case 'AllCurrent':
      return paint.green(`revision ${revision} in effect in all parts`);
    case 'ServerLost':
      return paint.red(
        `the API server does not answer, trying again: ${printable(first.reason ?? '')}`,
      );
    case 'ServerFound':
      return 'the API server answers again';
    case 'ServiceDeleted':
      return 'the Service was deleted';
  }
}

function detailText({ part, node, type }: PropagationChange): string {
  if (part === undefined) return node ?? '';
  const name = partName(part);
  if (type === 'PartBehind') {
    const lag = lagText(part);
    return lag === '' ? name : `${name} (${lag})`;
  }
  return type === 'PartNoAnswer' ? `${name} (${part.reason ?? ''})` : name;
}
