// The conflict of an apply with fields of other managers.

import { type ApiError, failure } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { type FieldSet, isEmptySet, memberPaths } from './fieldset.ts';
import type { Managed } from './managed-entries.ts';

/** The fields of one manager that the apply would change. */
export type Conflict = { readonly with: Managed; readonly fields: FieldSet };

export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const found = conflicts
    .filter(({ fields }) => !isEmptySet(fields))
    .sort((a, b) => (sortKey(a.with) < sortKey(b.with) ? -1 : 1))
    .map((conflict) => ({ who: managerText(conflict.with), paths: memberPaths(conflict.fields) }));
  const count = found.reduce((sum, { paths }) => sum + paths.length, 0);
  const causes = found.flatMap(({ who, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${who}`,
      field,
    })),
  );
  const [first] = found;
  const message =
    count === 1 && first !== undefined
      ? `Apply failed with 1 conflict: conflict with ${first.who}: ${first.paths[0] ?? ''}`
      : `Apply failed with ${count} conflicts: ${found.flatMap(manyTexts).join('\n')}`;
  return failure({ code: 409, reason: 'Conflict', message, details: { causes } });
}

type Found = { readonly who: string; readonly paths: readonly string[] };

const manyTexts = ({ who, paths }: Found): readonly string[] => [
  `conflicts with ${who}:`,
  ...paths.map((path) => `- ${path}`),
];

/** Managers are sorted by their identity, of which the version counts only for updates. */
function sortKey({ manager, operation, apiVersion, subresource }: Managed): string {
  return JSON.stringify([
    manager,
    operation,
    operation === 'Update' ? apiVersion : '',
    subresource,
  ]);
}

function managerText({ manager, operation, apiVersion, subresource }: Managed): string {
  const name = goQuote(manager);
  const where = subresource === '' ? '' : ` with subresource ${goQuote(subresource)}`;
  return `${name}${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
