// Labels and label selectors.
import { fitsInteger } from '../schema/fits-integer.ts';
import * as s from '../schema/node.ts';
import { contains } from './contains.ts';
import { errorText, type FieldError, forbidden, invalid, required } from './field-error.ts';
import { type Token, tokenize } from './label-tokens.ts';
import { labelValue, qualifiedName } from './names.ts';

export type Labels = Readonly<Record<string, string>>;

export type SelectorOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';

export type Requirement = {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
};

/** All requirements must hold; an empty list selects everything. */
export type Selector = readonly Requirement[];

/** Matches nothing: a set without values. */
export const selectsNothing: Selector = [{ key: '', operator: 'in', values: [] }];

export const labelSelectorRequirement = s.struct(
  'LabelSelectorRequirement',
  {
    key: s.required(s.always(s.string('Key of the label that the requirement is about.'))),
    operator: s.required(
      s.always(
        s.oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'How the label relates to the values.', {
          goType: 'v1.LabelSelectorOperator',
        }),
      ),
    ),
    values: s.list(s.string(), 'Values of In and NotIn; empty for the other operators.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3] },
);

export const labelSelector = s.struct(
  'LabelSelector',
  {
    matchLabels: s.map(s.string(), 'Labels that an object must have with exactly these values.'),
    matchExpressions: s.list(labelSelectorRequirement, 'Requirements that must all hold.', {
      listType: 'atomic',
    }),
  },
  { mapType: 'atomic', numbers: [1, 2] },
);
export type LabelSelector = s.Static<typeof labelSelector>;

export function validateLabels(labels: Labels | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    const value = labels[key] ?? '';
    for (const text of qualifiedName(key)) errors.push(invalid(field, key, text));
    for (const text of labelValue(value)) errors.push(invalid(field, value, text));
  }
  return errors;
}

export function validateLabelName(name: string, field: string): FieldError[] {
  return qualifiedName(name).map((text) => invalid(field, name, text));
}

export function validateLabelSelector(
  selector: LabelSelector | undefined,
  field: string,
): FieldError[] {
  if (selector === undefined) return [];
  return [
    ...validateLabels(selector.matchLabels, `${field}.matchLabels`),
    ...(selector.matchExpressions ?? []).flatMap((expression, index) =>
      validateExpression(expression, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

type Expression = s.Static<typeof labelSelectorRequirement>;

function validateExpression({ key, operator, values }: Expression, field: string): FieldError[] {
  const count = values?.length ?? 0;
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) {
      errors.push(
        required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
      );
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) {
      errors.push(
        forbidden(
          `${field}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      );
    }
  } else errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  return [
    ...errors,
    ...validateLabelName(key, `${field}.key`),
    ...(values ?? []).flatMap((value, index) =>
      labelValue(value).map((text) => invalid(`${field}.values[${index}]`, value, text)),
    ),
  ];
}

export function matchesSelector(selector: Selector, labels: Labels | undefined): boolean {
  for (const requirement of selector) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  return true;
}

function matchesRequirement({ key, operator, values }: Requirement, labels?: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && contains(values, value);
    case 'notin':
    case '!=':
      return value === undefined || !contains(values, value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt':
      return comparesTo(operator, value, values[0]);
  }
}

function comparesTo(operator: 'gt' | 'lt', value?: string, limit?: string): boolean {
  if (value === undefined || limit === undefined || !isInt64(value) || !isInt64(limit))
    return false;
  return operator === 'gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
}

/** Whether Go's ParseInt accepts the text as a 64-bit integer. */
function isInt64(text: string): boolean {
  return fitsInteger(text, 64);
}

export function selectorFromMap(map: Labels | undefined): Selector {
  const requirements = Object.entries(map ?? {}).map(([key, value]) => ({
    key,
    operator: '=' as const,
    values: [value],
  }));
  return sortedByKey(requirements);
}

const expressionOperators = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
} as const;

/** An absent selector selects nothing; an empty one selects everything. */
export function selectorFromLabelSelector(selector: LabelSelector | undefined): Selector {
  if (selector === undefined) return selectsNothing;
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => ({
    key,
    operator: expressionOperators[operator],
    values: values ?? [],
  }));
  return sortedByKey([...selectorFromMap(selector.matchLabels), ...expressions]);
}

function sortedByKey(requirements: readonly Requirement[]): Selector {
  return [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** Parses the text form of selectors: `app in (a,b),!old,tier!=front`. */
export function parseLabelSelector(
  text: string,
): { readonly selector: Selector } | { readonly error: string } {
  try {
    return { selector: sortedByKey(parseRequirements({ tokens: tokenize(text), at: 0 })) };
  } catch (problem) {
    if (problem instanceof SelectorProblem) return { error: problem.message };
    throw problem;
  }
}

class SelectorProblem extends Error {
  override readonly name = 'SelectorProblem';
}

type Cursor = { readonly tokens: readonly Token[]; at: number };

function parseRequirements(cursor: Cursor): Requirement[] {
  const requirements: Requirement[] = [];
  for (;;) {
    const token = peek(cursor);
    if (token.type === 'end') return requirements;
    if (!startsRequirement(token)) throw expected(token, "!, identifier, or 'end of string'");
    requirements.push(parseNamed(cursor));
    const next = take(cursor);
    if (next.type === 'end') return requirements;
    if (next.type !== ',') throw expected(next, "',' or 'end of string'");
    if (!startsRequirement(peek(cursor))) throw expected(peek(cursor), "identifier after ','");
  }
}

/** Errors inside a requirement have a prefix, errors between requirements have none. */
function parseNamed(cursor: Cursor): Requirement {
  try {
    return parseRequirement(cursor);
  } catch (problem) {
    if (!(problem instanceof SelectorProblem)) throw problem;
    throw new SelectorProblem(`unable to parse requirement: ${problem.message}`);
  }
}

function parseRequirement(cursor: Cursor): Requirement {
  const isNegated = peek(cursor).type === '!';
  if (isNegated) take(cursor);
  const name = take(cursor);
  if (!isWord(name)) throw expected(name, 'identifier');
  const key = name.text;
  const complaints = qualifiedName(key);
  if (complaints.length > 0) {
    // Upstream has no path for a bad key, and prints its nil pointer.
    throw new SelectorProblem(errorText(invalid('<nil>', key, complaints.join('; '))));
  }
  if (isNegated) return { key, operator: '!', values: [] };
  if (peek(cursor).type === 'end' || peek(cursor).type === ',') {
    return { key, operator: 'exists', values: [] };
  }
  const operator = parseOperator(cursor);
  const values =
    operator === 'in' || operator === 'notin' ? parseValues(cursor) : [parseValue(cursor)];
  return checked({ key, operator, values: [...new Set(values)].sort() });
}

function parseOperator(cursor: Cursor): SelectorOperator {
  const token = take(cursor);
  switch (token.type) {
    case 'in':
    case 'notin':
    case '=':
    case '==':
    case '!=':
      return token.type;
    case '>':
      return 'gt';
    case '<':
      return 'lt';
    default:
      throw expected(token, 'in, notin, =, ==, !=, gt, lt');
  }
}

/** `(a,b)`; a missing value between commas is the empty text. */
function parseValues(cursor: Cursor): string[] {
  const open = take(cursor);
  if (open.type !== '(') throw new SelectorProblem(`found '${open.text}' expected: '('`);
  const first = peek(cursor);
  if (!isWord(first) && first.type !== ',' && first.type !== ')') {
    throw expected(first, "',', ')' or identifier");
  }
  const values: string[] = [];
  for (;;) {
    values.push(isWord(peek(cursor)) ? take(cursor).text : '');
    const next = peek(cursor);
    if (next.type !== ',' && next.type !== ')') {
      throw expected(next, values.at(-1) === '' ? "',', or identifier" : "',' or ')'");
    }
    take(cursor);
    if (next.type === ')') return values;
  }
}

function parseValue(cursor: Cursor): string {
  const token = peek(cursor);
  if (token.type === 'end' || token.type === ',') return '';
  if (!isWord(token)) throw expected(token, 'identifier');
  return take(cursor).text;
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  const errors: FieldError[] = [];
  if (operator === 'gt' || operator === 'lt') {
    const notInteger = "for 'Gt', 'Lt' operators, the value must be an integer";
    for (const [index, value] of values.entries()) {
      if (!isInt64(value)) errors.push(invalid(`values[${index}]`, value, notInteger));
    }
  }
  for (const [index, value] of values.entries()) {
    const complaints = labelValue(value);
    if (complaints.length > 0) {
      errors.push(invalid(`values[${index}][${key}]`, value, complaints.join('; ')));
    }
  }
  const texts = [...new Set(errors.map(errorText))];
  if (texts.length === 0) return requirement;
  throw new SelectorProblem(texts.length === 1 ? String(texts[0]) : `[${texts.join(', ')}]`);
}

function peek({ tokens, at }: Cursor): Token {
  return tokens[at] ?? { type: 'end', text: '' };
}

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.at += 1;
  return token;
}

/** `in` and `notin` are also valid as keys and values, where no operator is possible. */
function isWord({ type }: Token): boolean {
  return type === 'identifier' || type === 'in' || type === 'notin';
}

function startsRequirement(token: Token): boolean {
  return isWord(token) || token.type === '!';
}

function expected(token: Token, what: string): SelectorProblem {
  return new SelectorProblem(`found '${token.text}', expected: ${what}`);
}

/** The text form, as in a query. */
export function formatSelector(selector: Selector): string {
  return selector === selectsNothing ? '' : selector.map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort().join(',')})`;
    case 'gt':
      return `${key}>${values[0] ?? ''}`;
    case 'lt':
      return `${key}<${values[0] ?? ''}`;
    default:
      return `${key}${operator}${values[0] ?? ''}`;
  }
}

/** `a=1,b=2` sorted by key, or `<none>`, as in tables. */
export function formatLabelMap(labels: Labels | undefined): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels?.[key]}`).join(',');
}
