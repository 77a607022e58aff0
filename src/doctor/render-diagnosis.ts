// A diagnosis as text for people: the findings of each object together, at most a screen of them unless more is wanted.
import { printable } from '../meta/printable.ts';
import type { Finding, Severity, SourceLine } from './check.ts';
import type { Diagnosis } from './diagnose.ts';
import { countText, objectId, objectText } from './object-names.ts';

type Colour = (text: string) => string;

export type RenderOptions = {
  readonly paint: Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Colour>>;
  /** Evidence, notes, and no limit. */
  readonly isVerbose: boolean;
  readonly columns: number;
  readonly rows: number;
};

/** Lines that are left for the summary, and for the prompt. */
const reservedRows = 5;

export function renderDiagnosis(diagnosis: Diagnosis, options: RenderOptions): string {
  const shown = diagnosis.findings.filter(
    ({ severity }) => options.isVerbose || severity !== 'info',
  );
  const blocks = groupByObject(shown).map((group) => blockOf(group, options));
  const fitting = options.isVerbose ? blocks.length : countFitting(blocks, options);
  const hidden = shown.length - countFindings(groupByObject(shown).slice(0, fitting));
  return [
    ...blocks.slice(0, fitting).flatMap((lines) => [...lines, '']),
    ...(hidden === 0 ? [] : [`${countText(hidden, 'more finding')} not shown; -v shows all`, '']),
    ...skippedLines(diagnosis, options),
    summaryLine(diagnosis, options),
    '',
  ].join('\n');
}

type Group = readonly [Finding, ...Finding[]];

function groupByObject(findings: readonly Finding[]): readonly Group[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const id = objectId(finding.about);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}

const countFindings = (groups: readonly Group[]): number =>
  groups.reduce((sum, group) => sum + group.length, 0);

function blockOf(group: Group, options: RenderOptions): readonly string[] {
  const { paint } = options;
  return [
    `${paint.bold(printable(objectText(group[0].about)))}${sourceText(group[0].source, paint)}`,
    ...group.flatMap((finding) => findingLines(finding, options)),
  ];
}

function findingLines(finding: Finding, { paint, isVerbose }: RenderOptions): readonly string[] {
  const { code, severity, message, evidence, fix } = finding;
  const proof = evidence.map(
    ({ object, field, value }) =>
      `      ${printable(`${objectText(object)} ${field}`)}: ${oneLine(value)}`,
  );
  return [
    `  ${coloured(severity, paint)} ${code}  ${oneLine(message)}`,
    ...(isVerbose ? proof.map(paint.dim) : []),
    ...(fix === undefined ? [] : [`    fix: ${printable(fix.sentence)}`]),
    ...changeLines(finding, paint),
  ];
}

/** The command, or what to change in the file. */
function changeLines({ fix, source }: Finding, paint: RenderOptions['paint']): readonly string[] {
  if (fix?.command !== undefined) return [`      ${paint.cyan(printable(fix.command))}`];
  if (fix?.patch === undefined || source === undefined) return [];
  const { target, body } = fix.patch;
  return [`      ${paint.cyan(printable(`${objectText(target)}: ${JSON.stringify(body)}`))}`];
}

function sourceText(source: SourceLine | undefined, paint: RenderOptions['paint']): string {
  return source === undefined ? '' : paint.dim(` (${printable(`${source.file}:${source.line}`)})`);
}

function coloured(severity: Severity, paint: RenderOptions['paint']): string {
  switch (severity) {
    case 'error':
      return paint.red('error  ');
    case 'warning':
      return paint.yellow('warning');
    case 'info':
      return paint.dim('info   ');
  }
}

/** Messages of programs in pods may have any characters, and end with a new line. */
const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' ').trimEnd());

/** The first block is shown whatever its size. */
function countFitting(blocks: readonly (readonly string[])[], options: RenderOptions): number {
  let rows = options.rows - reservedRows;
  let count = 0;
  for (const lines of blocks) {
    rows -= lines.reduce((sum, line) => sum + Math.ceil(line.length / options.columns), 1);
    if (rows < 0 && count > 0) break;
    count += 1;
  }
  return count;
}

function skippedLines({ skipped }: Diagnosis, { isVerbose }: RenderOptions): readonly string[] {
  if (skipped.length === 0) return [];
  const kinds = [...new Set(skipped.flatMap(({ unread }) => unread))].sort();
  const names = isVerbose ? skipped.map(({ code, title }) => `  ${code}  ${title}`) : [];
  return [
    `${countText(skipped.length, 'check')} skipped, because these could not be read: ${kinds.join(', ')}`,
    ...names,
  ];
}

export function countSeverities(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

function summaryLine(diagnosis: Diagnosis, { paint, isVerbose }: RenderOptions): string {
  const { error, warning, info } = countSeverities(diagnosis.findings);
  const notes = info === 0 ? '' : `, ${countText(info, 'note')}${isVerbose ? '' : ' (-v)'}`;
  const checked = `${countText(diagnosis.services, 'Service')} checked`;
  if (error + warning === 0) return `${checked}, ${paint.green('all well')}${notes}`;
  const errors = error === 0 ? [] : [paint.red(countText(error, 'error'))];
  const warnings = warning === 0 ? [] : [paint.yellow(countText(warning, 'warning'))];
  return `${checked}: ${[...errors, ...warnings].join(', ')}${notes}`;
}
