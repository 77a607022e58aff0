import {
  type FieldError,
  invalid,
  joined,
  required,
  tooLong,
  tooMany,
} from '../../meta/field-error.ts';
import { validateNotNegative } from '../pod/field-rules.ts';
import { parseIndexes } from './indexes.ts';
import type { JobSpec, SuccessPolicy, SuccessRule } from './types.ts';

/** Upstream's limits: all rules are judged in each sync of the job. */
const maxRules = 20;
const maxIndexesLength = 64 * 1024;

export function validateSuccessPolicy(
  { completionMode, completions = 0 }: JobSpec,
  policy: SuccessPolicy,
  field: string,
): readonly FieldError[] {
  const rules = policy.rules ?? [];
  if (completionMode !== 'Indexed')
    return [invalid(field, goForm(rules), 'requires indexed completion mode')];
  return joined([
    rules.length === 0
      ? [
          required(
            `${field}.rules`,
            'at least one rules must be specified when the successPolicy is specified',
          ),
        ]
      : [],
    rules.length > maxRules ? [tooMany(`${field}.rules`, rules.length, maxRules)] : [],
    ...rules.map((rule, index) => validateRule(rule, completions, `${field}.rules[${index}]`)),
  ]);
}

/** With Go's names of fields, as the message shows it. */
const goForm = (rules: readonly SuccessRule[]): object => ({
  Rules: rules.map(({ succeededIndexes = null, succeededCount = null }) => ({
    SucceededIndexes: succeededIndexes,
    SucceededCount: succeededCount,
  })),
});

function validateRule(
  { succeededIndexes: indexes, succeededCount: count }: SuccessRule,
  completions: number,
  field: string,
): readonly FieldError[] {
  if (indexes === undefined && count === undefined)
    return [
      required(field, 'at least one of succeededCount or succeededIndexes must be specified'),
    ];
  const parsed = indexes === undefined ? undefined : parseIndexes(indexes, completions);
  const total = parsed === undefined || 'error' in parsed ? 0 : parsed.total;
  return [
    ...(indexes === undefined ? [] : validateIndexes(indexes, parsed, `${field}.succeededIndexes`)),
    ...(count === undefined
      ? []
      : [
          ...validateNotNegative(`${field}.succeededCount`, count),
          ...atMost(count, completions, 'the number of specified completions', field),
          ...(indexes === undefined
            ? []
            : atMost(
                count,
                total,
                'the number of indexes in the specified succeededIndexes field',
                field,
              )),
        ]),
  ];
}

function atMost(count: number, limit: number, what: string, field: string): readonly FieldError[] {
  const detail = `must be less than or equal to ${limit} (${what})`;
  return count > limit ? [invalid(`${field}.succeededCount`, count, detail)] : [];
}

function validateIndexes(
  indexes: string,
  parsed: ReturnType<typeof parseIndexes> | undefined,
  field: string,
): readonly FieldError[] {
  return [
    ...(indexes.length > maxIndexesLength ? [tooLong(field, maxIndexesLength)] : []),
    ...(parsed !== undefined && 'error' in parsed
      ? [invalid(field, indexes, `error parsing succeededIndexes: ${parsed.error}`)]
      : []),
  ];
}
