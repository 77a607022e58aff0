// Prints the server's tables: a header per kind, and stable column widths.
import type { DiscoveredResource } from '../../client/discovery.ts';
import { shortKind } from '../manifests/find-resource.ts';
import { alignColumns, type ServerTable, tableText } from './print.ts';

export type TableOutputOptions = {
  readonly write: (text: string) => void;
  readonly wide: boolean;
  readonly withHeaders: boolean;
  readonly withLabels: boolean;
  readonly withNamespace: boolean;
  /** Several kinds are printed: names get their kind as prefix. */
  readonly mixed: boolean;
};

export type TableOutput = {
  readonly print: (resource: DiscoveredResource, table: ServerTable) => void;
  readonly isEmpty: () => boolean;
};

type Printed = {
  readonly widths: readonly number[];
  readonly columns: ServerTable['columnDefinitions'];
};

export function createTableOutput(options: TableOutputOptions): TableOutput {
  const printed = new Map<DiscoveredResource, Printed>();
  return {
    isEmpty: () => printed.size === 0,
    print(resource, table) {
      const before = printed.get(resource);
      // Only the first event of a watch has column definitions.
      const columns = table.columnDefinitions?.length
        ? table.columnDefinitions
        : (before?.columns ?? []);
      const { header, rows } = tableText(
        { ...table, columnDefinitions: columns },
        {
          wide: options.wide,
          withNamespace: options.withNamespace && resource.namespaced,
          withLabels: options.withLabels,
          namePrefix: options.mixed ? `${shortKind(resource)}/` : '',
        },
      );
      if (rows.length === 0) return;
      const withHeader = before === undefined && options.withHeaders;
      if (withHeader && printed.size > 0) options.write('\n');
      const { text, widths } = alignColumns(withHeader ? [header, ...rows] : rows, before?.widths);
      options.write(text);
      printed.set(resource, { widths, columns });
    },
  };
}
