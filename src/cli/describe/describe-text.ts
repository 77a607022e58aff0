// Formats the output of `describe`: labels, values and tables. Pure.
import type { Event } from '../../kinds/event/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { lastAppliedAnnotation } from '../../meta/well-known-annotations.ts';
import { humanDuration, parseTime } from '../../schema/time.ts';
import { alignColumns } from '../output/print.ts';

export type Field =
  | { readonly label: string; readonly lines: readonly string[] }
  | { readonly label: string; readonly fields: readonly Field[] }
  | {
      readonly label: string;
      readonly header: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

const gap = 2;

export function renderFields(fields: readonly Field[], indent = ''): string {
  const withLines = fields.filter((field) => 'lines' in field);
  const width = Math.max(0, ...withLines.map(({ label }) => label.length)) + 1 + gap;
  return fields.map((field) => renderField(field, indent, width)).join('');
}

function renderField(field: Field, indent: string, width: number): string {
  const label = `${field.label}:`;
  const inner = `${indent}  `;
  if ('fields' in field) return `${indent}${label}\n${renderFields(field.fields, inner)}`;
  if ('rows' in field) {
    const rule = field.header.map((name) => '-'.repeat(name.length));
    const { text } = alignColumns([field.header, rule, ...field.rows]);
    return `${indent}${label}\n${text.replace(/^(?=.)/gm, inner)}`;
  }
  const [first = '', ...rest] = field.lines;
  const lines = [`${label.padEnd(width)}${first}`, ...rest.map((line) => ''.padEnd(width) + line)];
  return lines.map((line) => `${(indent + line).trimEnd()}\n`).join('');
}

const none = ['<none>'];

export function line(label: string, text: string): Field {
  return { label, lines: [text] };
}

export function list(label: string, texts: readonly string[]): Field {
  return { label, lines: texts.length === 0 ? none : [texts.join(', ')] };
}

/** One pair per line, sorted. */
function pairs(
  label: string,
  map: Readonly<Record<string, string>> | undefined,
  separator = '=',
): Field {
  const lines = Object.entries(map ?? {})
    .map(([key, value]) => `${key}${separator}${value}`)
    .sort();
  return { label, lines: lines.length === 0 ? none : lines };
}

/** The first fields of every description. */
export function heading({
  name = '',
  namespace,
  labels,
  annotations = {},
}: ObjectMeta): readonly Field[] {
  const { [lastAppliedAnnotation]: _hidden, ...shown } = annotations;
  return [
    line('Name', name),
    ...(namespace === undefined ? [] : [line('Namespace', namespace)]),
    pairs('Labels', labels),
    pairs('Annotations', shown, ': '),
  ];
}

/** The last field of every description: events, newest last. */
export function eventsField(events: readonly Event[], now: number): Field {
  if (events.length === 0) return { label: 'Events', lines: none };
  const time = ({ lastTimestamp, eventTime }: Event): number =>
    parseTime(lastTimestamp ?? eventTime ?? '') ?? now;
  const rows = [...events]
    .sort((a, b) => time(a) - time(b))
    .map((event) => [
      event.type ?? '',
      event.reason ?? '',
      ageText(event, time(event), now),
      event.source.component ?? event.reportingComponent ?? '',
      (event.message ?? '').trim(),
    ]);
  return { label: 'Events', header: ['Type', 'Reason', 'Age', 'From', 'Message'], rows };
}

function ageText({ count = 1, firstTimestamp }: Event, lastMs: number, now: number): string {
  const last = humanDuration(now - lastMs);
  if (count <= 1) return last;
  const first = parseTime(firstTimestamp ?? '') ?? lastMs;
  return `${last} (x${count} over ${humanDuration(now - first)})`;
}
