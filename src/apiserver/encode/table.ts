// Objects as rows of a Table, which is what `kubectl get` prints.
import type { AnyKind, RowCondition } from '../../kinds/definition.ts';
import { createdAtColumn, nameColumn } from '../../kinds/metadata-columns.ts';
import { type Encodable, type EncodedKind, jsonOf, objectOf } from './body.ts';
import type { Representation } from './negotiate.ts';
import { partialMetadata } from './partial-metadata.ts';

export type ListMeta = {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
};

type TableParts = TableHead & {
  /** Rows as JSON. */
  readonly rows: readonly string[];
};

type TableHead = {
  readonly metadata: { readonly resourceVersion?: string };
  /** On a watch only the first Table says what its columns are. */
  readonly withColumns: boolean;
};

export function table(
  representation: Representation,
  kind: EncodedKind,
  { rows, ...head }: TableParts,
): Buffer {
  return Buffer.from(`${tableHead(representation, kind, head)}${rows.join(',')}]}`);
}

/** All up to the first row; what follows the last is `]}`. */
export function tableHead(
  { metaVersion }: Representation,
  kind: EncodedKind,
  { metadata, withColumns }: TableHead,
): string {
  const columns = withColumns ? JSON.stringify(columnsOf(kind).map(describeColumn)) : 'null';
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${metaVersion}","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[`;
}

export function row(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
  now: number,
): string {
  const object = objectOf(value);
  const cells = columnsOf(kind).map((column) => column.cell(object, now));
  return rowOf(representation, { cells, conditions: kind.rowConditions?.(object) ?? [] }, value);
}

/** A bookmark is no object: its row has nothing to show. */
export function emptyRow(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
): string {
  const cells = columnsOf(kind).map((column) => emptyCells[column.type]);
  return rowOf(representation, { cells, conditions: [] }, value);
}

const emptyCells = { string: '', date: '', integer: 0, number: 0, boolean: false } as const;

type RowParts = {
  readonly cells: readonly unknown[];
  readonly conditions: readonly RowCondition[];
};

function rowOf(
  { includeObject, metaVersion }: Representation,
  { cells, conditions }: RowParts,
  value: Encodable,
): string {
  const objects = {
    Metadata: () => partialMetadata(objectOf(value), metaVersion),
    Object: () => jsonOf(value).toString('utf8'),
    None: () => 'null',
  };
  const conditionsField =
    conditions.length === 0 ? '' : `"conditions":${JSON.stringify(conditions)},`;
  return `{"cells":${JSON.stringify(cells)},${conditionsField}"object":${objects[includeObject]()}}`;
}

type Columns = AnyKind['columns'];

function columnsOf(kind: EncodedKind): Columns {
  return kind.columns ?? [nameColumn, createdAtColumn];
}

function describeColumn(column: Columns[number]): object {
  const { name, type, format = '', description, priority = 0 } = column;
  return { name, type, format, description, priority };
}
