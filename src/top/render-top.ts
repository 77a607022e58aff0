// The table as text for people: aligned, at most a screen of it unless more is wanted. Names come from others, and are shown as text.
import { printable } from '../meta/printable.ts';
import { nodeNotes } from './node-notes.ts';
import type {
  EndpointTraffic,
  PortTraffic,
  Rates,
  ServiceTraffic,
  Share,
  Skew,
  TopServices,
} from './top-services.ts';

type Colour = (text: string) => string;

export type RenderOptions = {
  readonly paint: Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Colour>>;
  /** Everything, however long. */
  readonly isVerbose: boolean;
  readonly columns: number;
  readonly rows: number;
};

/** Lines that are left for the prompt. */
const reservedRows = 2;
const minShownRows = 3;

export function renderServices(top: TopServices, options: RenderOptions): string {
  const { paint, isVerbose } = options;
  const withTraffic = top.services.filter(hasTraffic);
  const candidates = isVerbose ? top.services : withTraffic;
  const notes = noteLines(nodeNotes(top, isVerbose), options);
  const room = Math.max(minShownRows, options.rows - reservedRows - notes.length - 3);
  const shown = isVerbose ? candidates : candidates.slice(0, room);
  const idle = top.services.length - withTraffic.length;
  const hidden = candidates.length - shown.length;
  const lines = [
    ...(shown.length === 0 ? [] : serviceTable(shown, paint)),
    ...(hidden > 0 ? [paint.dim(`and ${countText(hidden, 'more Service')}; -v shows all`)] : []),
    ...(idle > 0 && !isVerbose
      ? [paint.dim(`${countText(idle, 'Service')} without connections`)]
      : []),
    ...(top.services.length === 0 ? ['No Services'] : []),
    ...notes,
  ];
  return textOf(lines, options);
}

const hasTraffic = ({
  openConnections,
  unansweredConnections,
  newPerSecond,
  skew,
}: ServiceTraffic) =>
  openConnections + unansweredConnections + newPerSecond > 0 || skew.verdict !== 'no-connections';

const countText = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

function noteLines(notes: ReturnType<typeof nodeNotes>, options: RenderOptions): readonly string[] {
  const { paint } = options;
  return notes.flatMap(({ text, isProblem }) =>
    wrapped(text, options).map(isProblem ? paint.yellow : paint.dim),
  );
}

/** Sentences go on in the next line, where tables are cut. */
function wrapped(
  text: string,
  { columns, isVerbose }: Pick<RenderOptions, 'columns' | 'isVerbose'>,
  indent = '',
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text).split(' ')) {
    const longer = line === '' ? `${indent}${word}` : `${line} ${word}`;
    if (!isVerbose && line !== '' && longer.length > columns) {
      lines.push(line);
      line = `${indent}  ${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** Longer than any line of a table is wide. */
const maxLineLength = 2000;

/** At a terminal no line is longer than it is wide: a view that is painted again must know its height. */
function textOf(
  lines: readonly string[],
  { columns, rows, isVerbose, paint }: RenderOptions,
): string {
  const width = isVerbose ? maxLineLength : columns;
  const fits = isVerbose || lines.length < rows;
  const shown = fits ? lines : [...lines.slice(0, rows - 2), paint.dim('and more; -v shows all')];
  return `${shown.map((line) => cutLine(line, width)).join('\n')}\n`;
}

/** What a terminal obeys takes no room in it. */
const styleOrText = /\p{Cc}\[[0-9]{1,2}m|\P{Cc}/gu;

function cutLine(line: string, width: number): string {
  if (line.length <= width) return line;
  let room = width;
  const pieces = line.slice(0, maxLineLength).match(styleOrText) ?? [];
  return pieces.filter((piece) => piece.startsWith('\u001b') || room-- > 0).join('');
}

const rateTitles = ['OPEN', 'NEW/S', 'IN/S', 'OUT/S'];

function rateCells({ openConnections, newPerSecond, ...bytes }: Rates): readonly string[] {
  return [
    String(openConnections),
    numberText(newPerSecond),
    bytesText(bytes.bytesInPerSecond),
    bytesText(bytes.bytesOutPerSecond),
  ];
}

function serviceTable(
  services: readonly ServiceTraffic[],
  paint: RenderOptions['paint'],
): readonly string[] {
  const header = ['NAMESPACE', 'SERVICE', 'ENDPOINTS', ...rateTitles, 'SKEW'];
  const rows = services.map((one) => [
    ...[one.namespace, one.name, String(one.usableEndpoints), ...rateCells(one)],
    skewText(one.skew),
  ]);
  const [title = '', ...lines] = columnsOf([header, ...rows], rightAligned);
  return [
    paint.bold(title),
    ...lines.map((line, at) =>
      services[at]?.skew.verdict === 'skewed' ? paint.yellow(line) : line,
    ),
  ];
}

const rightAligned: ReadonlySet<string> = new Set([
  ...['ENDPOINTS', ...rateTitles, 'EVEN', 'EXPECTED', 'OBSERVED'],
]);

function columnsOf(
  rows: readonly (readonly string[])[],
  right: ReadonlySet<string>,
): readonly string[] {
  const [titles = []] = rows;
  const texts = rows.map((row) => row.map(printable));
  const widths = titles.map((_, at) =>
    texts.reduce((width, row) => Math.max(width, row[at]?.length ?? 0), 0),
  );
  return texts.map((row) =>
    row
      .map((cell, at) =>
        right.has(titles[at] ?? '') ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** As `2.4x web-1: affinity`. */
function skewText({ verdict, factor, of, causes, sentence }: Skew): string {
  switch (verdict) {
    case 'skewed': {
      const what = of === 'bytes' ? 'bytes' : 'connections';
      return `${factor ?? ''}x ${what}: ${causes.map(({ code }) => code).join(', ')}`;
    }
    case 'no-connections':
      return '-';
    case 'too-few':
      return 'too few to say';
    default:
      return verdict === 'one-endpoint' ? 'one endpoint' : sentence;
  }
}

/** One Service: its endpoints, with their shares. */
export function renderService(top: TopServices, options: RenderOptions): string {
  const { paint } = options;
  const notes = noteLines(nodeNotes(top, options.isVerbose), options);
  const ports = top.services.flatMap(({ ports }) => ports);
  const busy = ports.filter(({ skew }) => skew.verdict !== 'no-connections');
  const shown = options.isVerbose || busy.length === 0 ? ports : busy;
  const room = options.rows - reservedRows - notes.length;
  const lines = [
    ...shown.flatMap((port, at) => [
      ...(at === 0 ? [] : ['']),
      ...portLines(port, { ...options, rows: Math.floor(room / shown.length) }),
    ]),
    ...(ports.length > shown.length
      ? [paint.dim(`${countText(ports.length - shown.length, 'port')} without connections`)]
      : []),
    ...notes,
  ];
  return textOf(lines, options);
}

function portLines(port: PortTraffic, options: RenderOptions): readonly string[] {
  const { paint, isVerbose, rows } = options;
  const name = port.portName === '' ? '' : `${port.portName} `;
  const title = `port ${name}${port.port}/${port.protocol}, ${port.family}`;
  const about = skewLines(port.skew, options);
  const room = Math.max(minShownRows, rows - about.length - 3);
  const shown = isVerbose ? port.endpoints : port.endpoints.slice(0, room);
  const hidden = port.endpoints.length - shown.length;
  return [
    `${paint.bold(printable(title))}  ${portRates(port)}`,
    ...(shown.length === 0 ? [paint.dim('no endpoints')] : endpointTable(shown, port.skew, paint)),
    ...(hidden > 0 ? [paint.dim(`and ${hidden} more; -v shows all`)] : []),
    ...about,
  ];
}

function portRates(port: PortTraffic): string {
  const { openConnections, newPerSecond, bytesInPerSecond, bytesOutPerSecond } = port;
  const bytes =
    bytesInPerSecond === undefined
      ? []
      : [`${bytesText(bytesInPerSecond)}/s in`, `${bytesText(bytesOutPerSecond)}/s out`];
  return [`${openConnections} open`, `${numberText(newPerSecond)} new/s`, ...bytes].join(', ');
}

function skewLines({ verdict, causes, sentence }: Skew, options: RenderOptions): readonly string[] {
  const { paint } = options;
  if (verdict === 'no-connections') return [];
  const colour = verdict === 'skewed' ? paint.yellow : verdict === 'even' ? paint.green : paint.dim;
  return [
    ...wrapped(`skew: ${sentence}`, options).map(colour),
    ...causes.flatMap(({ code, evidence }) => wrapped(`${code}: ${evidence}`, options, '  ')),
  ];
}

/** What matters most comes first: narrow terminals cut lines. */
function endpointTable(
  endpoints: readonly EndpointTraffic[],
  skew: Skew,
  paint: RenderOptions['paint'],
): readonly string[] {
  const shares = endpoints.flatMap(({ share }) => share ?? []);
  const areUneven = shares.some(({ even, expected }) => Math.abs(even - expected) > 0.005);
  const hasZones = endpoints.some(({ zone }) => zone !== undefined);
  const shareTitles = shares.length === 0 ? [] : ['EXPECTED', 'OBSERVED', '(99.9% SURE)'];
  const [open = '', ...otherRates] = rateTitles;
  const header = [
    ...['ENDPOINT', 'POD', open],
    ...(areUneven ? ['EVEN', ...shareTitles] : shareTitles),
    ...[...otherRates, 'NODE', ...(hasZones ? ['ZONE'] : [])],
  ];
  const rows = endpoints.map((one) => {
    const [openText = '', ...otherTexts] = rateCells(one);
    return [
      ...[addressText(one), one.pod ?? '-', openText],
      ...(shares.length === 0 ? [] : shareCells(one.share, areUneven)),
      ...[...otherTexts, one.node ?? '-', ...(hasZones ? [one.zone ?? '-'] : [])],
    ];
  });
  const [title = '', ...lines] = columnsOf([header, ...rows], rightAligned);
  return [
    paint.dim(title),
    ...lines.map((line, at) => {
      const one = endpoints[at];
      if (one === undefined || !one.isUsed) return paint.dim(line);
      return `${one.address}:${one.port}` === skew.endpoint ? paint.yellow(line) : line;
    }),
  ];
}

const addressText = ({ address, port }: EndpointTraffic): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

function shareCells(share: Share | undefined, withEven: boolean): readonly string[] {
  if (share === undefined) return [...(withEven ? ['-'] : []), '-', '-', '-'];
  const { even, expected, observed, low, high } = share;
  const range = `(${percentText(low)} to ${percentText(high)})`;
  const cells = [percentText(expected), percentText(observed), range];
  return withEven ? [percentText(even), ...cells] : cells;
}

/** Of small shares a digit more: a hundredth is not nothing. */
function percentText(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)}%`;
}

function numberText(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/** Three digits. */
function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return '-';
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
