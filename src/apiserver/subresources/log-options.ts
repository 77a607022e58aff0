// The options of a log, and its container (upstream: pkg/registry/core/pod/strategy.go, LogLocation).

import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest, invalid as invalidObject } from '../../meta/api-error.ts';
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { QueryOption, QueryOptions } from '../message.ts';

/** Forwarded to the node as they are. */
const forwardedOptions: readonly QueryOption[] = [
  'follow',
  'previous',
  'timestamps',
  'sinceSeconds',
  'sinceTime',
  'tailLines',
  'limitBytes',
  'stream',
];

/** The query for the node; throws ApiError for invalid options. */
export function logQuery(query: QueryOptions, podName: string): string {
  const errors = [
    ...checkMinimum(query, 'tailLines', 0),
    ...checkMinimum(query, 'limitBytes', 1),
    ...checkMinimum(query, 'sinceSeconds', 1),
  ];
  if (query.has('sinceSeconds') && query.has('sinceTime')) {
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  }
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, podName, errors);
  const forwarded = new URLSearchParams();
  for (const name of forwardedOptions) {
    const value = query.get(name);
    if (value !== null && value !== '')
      forwarded.set(name, isFlag(name) ? String(isTrue(value)) : value);
  }
  const text = forwarded.toString();
  return text === '' ? '' : `?${text}`;
}

const isFlag = (name: string): boolean => ['follow', 'previous', 'timestamps'].includes(name);
/** Go's rule for switches in a query. */
const isTrue = (value: string): boolean => !['false', '0', ''].includes(value.toLowerCase());

function checkMinimum(query: QueryOptions, name: QueryOption, minimum: number): FieldError[] {
  const text = query.get(name);
  if (text === null || text === '') return [];
  if (!/^-?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`);
  if (Number(text) >= minimum) return [];
  const limit = minimum === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
  return [invalid(name, Number(text), limit)];
}

/** The requested container, or the only one. */
export function logContainer({ metadata, spec }: Pod, requested: string): string {
  const containers = (spec.containers ?? []).map(({ name }) => name);
  const init = (spec.initContainers ?? []).map(({ name }) => name);
  const extra = (spec.ephemeralContainers ?? []).map(({ name }) => name);
  if (requested !== '') {
    if ([...containers, ...init, ...extra].includes(requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${metadata.name}`);
  }
  const [only = ''] = containers;
  if (containers.length === 1) return only;
  const more =
    (init.length > 0 ? ` or one of the init containers: [${init.join(' ')}]` : '') +
    (extra.length > 0 ? ` or one of the ephemeral containers: [${extra.join(' ')}]` : '');
  throw badRequest(
    `a container name must be specified for pod ${metadata.name}, choose one of: [${containers.join(' ')}]${more}`,
  );
}
