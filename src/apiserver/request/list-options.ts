// The query options of list, watch and deletecollection, validated as Kubernetes does.

import type { AnyKind } from '../../kinds/definition.ts';
import { badRequest, invalid } from '../../meta/api-error.ts';
import { type FieldError, forbidden, notSupported } from '../../meta/field-error.ts';
import { type FieldSelector, parseFieldSelector } from '../../meta/fields.ts';
import { matchesSelector, parseLabelSelector, type Selector } from '../../meta/labels.ts';
import type { KubeObject } from '../../meta/object.ts';
import { fitsInteger } from '../../schema/fits-integer.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { QueryOption, QueryOptions } from '../message.ts';
import { type ResourceRequest, requiredName } from './request-info.ts';

export type ListOptions = {
  readonly selects: (object: KubeObject) => boolean;
  /** True when everything is selected. */
  readonly selectsAll: boolean;
  readonly limit: number;
  readonly continueToken: string;
  /** Absent when the client did not name one. */
  readonly resourceVersion?: number;
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  readonly timeoutSeconds?: number;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents?: boolean;
};

/** Selects objects; of the request as it was authorized. */
export type Selection = Pick<ResourceRequest, 'name' | 'fieldSelector' | 'labelSelector'>;

export function parseListOptions(
  selection: Selection,
  query: QueryOptions,
  { definition, watch }: { readonly definition: AnyKind; readonly watch: boolean },
): ListOptions {
  const limit = integer(query, 'limit') ?? 0;
  const timeoutSeconds = integer(query, 'timeoutSeconds');
  const labels = labelSelector(selection);
  const fields = fieldSelector(selection, definition);
  checkRules(query, watch);
  const version = query.get('resourceVersion') ?? '';
  const initial = flag(query, 'sendInitialEvents');
  return {
    selects: (object) =>
      matchesSelector(labels, object.metadata.labels) && fields.every((f) => f(object)),
    selectsAll: labels.length === 0 && fields.length === 0,
    limit,
    continueToken: query.get('continue') ?? '',
    ...(version === '' ? {} : { resourceVersion: parseVersion(version, true) }),
    resourceVersionMatch: (query.get('resourceVersionMatch') ??
      '') as ListOptions['resourceVersionMatch'],
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    allowBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    ...(initial === undefined ? {} : { sendInitialEvents: initial }),
  };
}

function integer(query: QueryOptions, name: QueryOption): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return parseInteger(text);
}

/** Go's ParseInt with its messages. */
export function parseInteger(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`);
  }
  if (!fitsInteger(text, 64)) {
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`);
  }
  return Number(text);
}

/** Go's booleans in queries: present without a value is true, '0' and 'false' are false. */
function flag(query: QueryOptions, name: QueryOption): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== '0' && value.toLowerCase() !== 'false';
}

/** An invalid version is the client's mistake (400); upstream answers a get with 500 and another message. */
export function parseVersion(text: string, list: boolean): number {
  if (/^\d+$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER) return Number(text);
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const quoted = goQuote(text);
  const message = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`;
  throw badRequest(list ? `invalid resource version: ${message}` : message);
}

function labelSelector({ labelSelector: text = '' }: Selection): Selector {
  const parsed = parseLabelSelector(text);
  if ('error' in parsed) throw badRequest(parsed.error);
  return parsed.selector;
}

type Selects = (object: KubeObject) => boolean;

/** Never more than the name that was authorized, where there is one. */
function fieldSelector(
  { name, fieldSelector: text = '' }: Selection,
  definition: AnyKind,
): readonly Selects[] {
  const parsed = parseFieldSelector(text);
  if ('error' in parsed) throw badRequest(parsed.error);
  const { selector } = parsed;
  const terms = selector.map((term) => fieldTerm(term, definition));
  if (name === '') return terms;
  if (selector.length > 0 && requiredName(selector) !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return [({ metadata }) => metadata.name === name, ...terms];
}

function fieldTerm(term: FieldSelector[number], definition: AnyKind): Selects {
  const read = fieldReader(term.field, definition);
  const wanted = term.operator === '=';
  return (object) => (read(object) === term.value) === wanted;
}

function fieldReader(field: string, definition: AnyKind): (object: KubeObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  if (field === 'metadata.namespace' && knowsNamespace(definition))
    return (object) => object.metadata.namespace ?? '';
  const read = Object.hasOwn(definition.fieldSelectors ?? {}, field)
    ? definition.fieldSelectors?.[field]
    : undefined;
  if (read !== undefined) return read;
  if (definition.fieldSelectorError === 'label' || field === '') {
    throw badRequest(`field label not supported: ${field}`);
  }
  if (definition.fieldSelectorError === 'kind')
    throw badRequest(`field label ${goQuote(field)} not supported for ${definition.kind}`);
  const known = [
    'metadata.name',
    'metadata.namespace',
    ...Object.keys(definition.fieldSelectors ?? {}),
  ];
  throw badRequest(
    `${goQuote(field)} is not a known field selector: only ${known.map((k) => goQuote(k)).join(', ')}`,
  );
}

/** Cluster-scoped kinds with a list of field labels of their own have no namespace in it; the others accept it, and it is empty. */
const knowsNamespace = ({ namespaced, fieldSelectorError }: AnyKind): boolean =>
  namespaced || fieldSelectorError !== 'label';

/** Which combinations of resourceVersion, its match, continue and sendInitialEvents make sense. */
function checkRules(query: QueryOptions, watch: boolean): void {
  const errors = watch ? watchRules(query) : listRules(query);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

const matchField = 'resourceVersionMatch';

function listRules(query: QueryOptions): readonly FieldError[] {
  const errors = [...listMatchRules(query)];
  if (query.get('sendInitialEvents') !== null) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function listMatchRules(query: QueryOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  const match = query.get(matchField) ?? '';
  if (match === '') return errors;
  const version = query.get('resourceVersion') ?? '';
  if (version === '') {
    errors.push(
      forbidden(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  }
  errors.push(...continueRule(query));
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(matchField, match, ['Exact', 'NotOlderThan', '']));
  }
  if (match === 'Exact' && version === '0') {
    errors.push(
      forbidden(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    );
  }
  return errors;
}

function watchRules(query: QueryOptions): readonly FieldError[] {
  const { match, requestsInitialEvents } = watchMatch(query);
  const errors: FieldError[] = [];
  if (requestsInitialEvents && match !== 'NotOlderThan') {
    errors.push(
      forbidden(
        matchField,
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    );
  }
  if (match === '') return errors;
  if (!requestsInitialEvents) {
    errors.push(
      forbidden(
        matchField,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(matchField, match, ['NotOlderThan']));
  return [...errors, ...continueRule(query)];
}

type WatchMatch = { readonly match: string; readonly requestsInitialEvents: boolean };

/** A plain watch from the beginning counts as one that requests the initial events. */
function watchMatch(query: QueryOptions): WatchMatch {
  const match = query.get(matchField) ?? '';
  const requestsInitialEvents = query.get('sendInitialEvents') !== null;
  const version = query.get('resourceVersion') ?? '';
  const isFromBeginning = version === '' || version === '0';
  if (match === '' && !requestsInitialEvents && isFromBeginning)
    return { match: 'NotOlderThan', requestsInitialEvents: true };
  return { match, requestsInitialEvents };
}

function continueRule(query: QueryOptions): readonly FieldError[] {
  return (query.get('continue') ?? '') === ''
    ? []
    : [forbidden(matchField, 'resourceVersionMatch is forbidden when continue is provided')];
}
