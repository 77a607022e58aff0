// Formats output: tables in columns, objects as JSON or YAML. Pure.
import { Document, type Scalar, visit } from 'yaml';
import type { KubeObject } from '../../meta/object.ts';
import { escapedForJson, isPrintable } from '../../meta/printable.ts';

/** The parts of the server's Table that are printed. */
export type ServerTable = {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly columnDefinitions?:
    | readonly { readonly name: string; readonly priority?: number }[]
    | null;
  readonly rows?: readonly TableRow[] | null;
};

export type TableRow = {
  readonly cells: readonly unknown[];
  readonly object?: { readonly metadata?: KubeObject['metadata'] };
};

export type TableStyle = {
  readonly wide: boolean;
  readonly withNamespace: boolean;
  readonly withLabels: boolean;
  /** Prefix of names when several kinds are printed, such as `service/`. */
  readonly namePrefix: string;
};

export type PrintedTable = {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

export function tableText(table: ServerTable, style: TableStyle): PrintedTable {
  const shown = (table.columnDefinitions ?? []).map(
    ({ priority = 0 }) => style.wide || priority === 0,
  );
  const header = (table.columnDefinitions ?? []).flatMap(({ name }, i) =>
    shown[i] ? [name.toUpperCase()] : [],
  );
  return {
    header: [
      ...(style.withNamespace ? ['NAMESPACE'] : []),
      ...header,
      ...(style.withLabels ? ['LABELS'] : []),
    ],
    rows: (table.rows ?? []).map((row) => rowText(row, shown, style)),
  };
}

function rowText(
  { cells, object }: TableRow,
  shown: readonly boolean[],
  style: TableStyle,
): readonly string[] {
  const texts = cells.map((cell, i) => (i === 0 ? style.namePrefix : '') + cellText(cell));
  // Only the first event of a watch has column definitions; the columns stay the same.
  const shownTexts = texts.filter((_text, i) => shown[i] ?? shown.length === 0);
  return [
    ...(style.withNamespace ? [object?.metadata?.namespace ?? ''] : []),
    ...shownTexts,
    ...(style.withLabels ? [labelsText(object?.metadata?.labels)] : []),
  ];
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '<none>';
  // As kubectl: cut a cell at its first line break.
  const [line = ''] = String(cell).split(/[\r\n\f]/);
  return line.length < String(cell).length ? `${line}...` : line;
}

export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return texts.length === 0 ? '<none>' : texts.sort().join(',');
}

const columnGap = 3;

/** Pads cells to columns; `atLeast` are the widths of earlier output of the same table. */
export function alignColumns(
  lines: readonly (readonly string[])[],
  atLeast: readonly number[] = [],
): { readonly text: string; readonly widths: readonly number[] } {
  const widths: number[] = [];
  // Lines are not spread into arguments: a hundred thousand are too many for one call.
  for (const line of lines) {
    for (const [i, cell] of line.entries())
      widths[i] = Math.max(widths[i] ?? atLeast[i] ?? 0, cell.length);
  }
  const text = lines
    .map((line) =>
      line
        .map((cell, i) =>
          i === line.length - 1 ? cell : cell.padEnd((widths[i] ?? 0) + columnGap),
        )
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
  return { text, widths };
}

export type ObjectFormat = 'json' | 'yaml';

/** What a terminal would obey is escaped: programs read the same. */
export function objectText(value: unknown, format: ObjectFormat): string {
  const tidy = sortedKeys(value);
  const json = `${JSON.stringify(tidy, undefined, 4)}\n`;
  if (format === 'json') return escapedForJson(json);
  const document = new Document(tidy, { version: '1.1', aliasDuplicateObjects: false });
  // The lower control characters are escaped by both formats.
  if (!isPrintable(json)) visit(document, { Scalar: (_key, scalar) => quoteUnprintable(scalar) });
  return escapedForJson(document.toString({ indentSeq: false, lineWidth: 0 }));
}

/** Other forms of YAML have no escapes. */
function quoteUnprintable(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === 'string' && !isPrintable(value)) scalar.type = 'QUOTE_DOUBLE';
}

/** Several objects as a List, as kubectl prints them. */
export function listOf(items: readonly KubeObject[]): unknown {
  return { apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } };
}

/** managedFields are for programs. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _hidden, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedKeys(item)]));
}
