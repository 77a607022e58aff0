// Content negotiation: JSON, YAML or protobuf; whole objects, a Table or metadata only.

import { badRequest, failure } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { QueryOptions } from '../message.ts';
import { type AcceptClause, acceptsMediaType, parseAccept } from './accept.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
export type MetaVersion = 'v1' | 'v1beta1';
export type IncludeObject = 'Metadata' | 'Object' | 'None';

export type Representation = {
  readonly format: 'json' | 'yaml' | 'protobuf';
  readonly as: Shape;
  /** Version of meta.k8s.io in which a Table or metadata is written. */
  readonly metaVersion: MetaVersion;
  readonly pretty: boolean;
  /** What a Table row carries besides its cells. */
  readonly includeObject: IncludeObject;
};

export type NegotiateOptions = {
  /** What the path answers with: one object (also every write), a list, or a stream of events. */
  readonly allow: 'object' | 'list' | 'watch';
  /** Browsers and curl get indented JSON unless they ask otherwise. */
  readonly userAgent?: string | undefined;
  /** False for documents that have no protobuf form. */
  readonly protobuf?: boolean;
  /** Forms besides the object itself. Kinds that are never stored have no columns, discovery documents nothing but themselves. */
  readonly forms?: 'all' | 'metadata' | 'none';
};

type Offer = {
  readonly type: string;
  readonly subtype: string;
  readonly format: Representation['format'];
  readonly streams: boolean;
};

/** What can be written, most preferred first. */
const offers: readonly Offer[] = [
  { type: 'application', subtype: 'json', format: 'json', streams: true },
  { type: 'application', subtype: 'yaml', format: 'yaml', streams: false },
  {
    type: 'application',
    subtype: 'vnd.kubernetes.protobuf',
    format: 'protobuf',
    streams: true,
  },
];

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const streamTypes = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];

/** Decides from the Accept header and the query; throws ApiError 406, or 400 for a wrong includeObject. */
export function negotiate(
  accept: string | undefined,
  query: QueryOptions,
  options: NegotiateOptions,
): Representation {
  const { allow, userAgent = '', protobuf = true, forms = 'all' } = options;
  // Only these two parts of a query count, and hardly any request has them.
  if (query.size > 0 && (query.has('pretty') || query.has('includeObject')))
    return decide(accept, query, options);
  const last = latest[allow];
  const isSame = last?.protobuf === protobuf && last.forms === forms && last.accept === accept;
  if (isSame && last.userAgent === userAgent) return last.representation;
  const key = `${allow} ${protobuf} ${forms} ${userAgent} ${accept ?? ''}`;
  let representation = decided.get(key);
  if (representation === undefined) {
    representation = decide(accept, query, options);
    if (decided.size >= maxDecided) decided.clear();
    decided.set(key, representation);
  }
  latest[allow] = { protobuf, forms, userAgent, accept, representation };
  return representation;
}

/** Clients send the same few headers again and again. */
const decided = new Map<string, Representation>();
const maxDecided = 200;

type Decision = {
  readonly protobuf: boolean;
  readonly forms: string;
  readonly userAgent: string;
  readonly accept: string | undefined;
  readonly representation: Representation;
};

/** Of the last request; to compare costs less than to make a key. */
const latest: Record<NegotiateOptions['allow'], Decision | undefined> = {
  object: undefined,
  list: undefined,
  watch: undefined,
};

function decide(
  accept: string | undefined,
  query: QueryOptions,
  options: NegotiateOptions,
): Representation {
  const header = accept ?? '';
  assertRouteProduces(
    header,
    options.allow === 'object' ? mediaTypes : [...mediaTypes, ...streamTypes],
  );
  const chosen = choose(
    header,
    (offer, transform) =>
      allowsTransform(transform) &&
      hasForm(offer, transform, options.protobuf ?? true) &&
      hasShape(transform, options.forms ?? 'all'),
  );
  if (chosen === undefined) throw notAcceptable(mediaTypes);
  if (options.allow === 'watch' && !chosen.offer.streams) throw notAcceptable(streamTypes);
  const transform = transformOf(chosen.parameters);
  return {
    format: chosen.offer.format,
    as: (transform?.kind ?? 'object') as Shape,
    metaVersion: (transform?.version ?? 'v1') as MetaVersion,
    pretty: chosen.parameters.pretty === '1' || wantsPretty(query, options.userAgent),
    includeObject: transform?.kind === 'Table' ? readIncludeObject(query) : 'Metadata',
  };
}

/** The encoding of a Status: JSON unless another was negotiated, never a Table. */
export function negotiateError(
  accept: string | undefined,
  query: QueryOptions,
  userAgent?: string,
): Representation {
  const chosen = choose(accept ?? '', (_offer, transform) => transform === undefined);
  const pretty = chosen?.parameters.pretty === '1' || wantsPretty(query, userAgent);
  return { ...plainJson, format: chosen?.offer.format ?? 'json', pretty };
}

export const plainJson: Representation = {
  format: 'json',
  as: 'object',
  metaVersion: 'v1',
  pretty: false,
  includeObject: 'Metadata',
};

export function contentType(representation: Representation): string {
  switch (representation.format) {
    case 'json':
      return 'application/json';
    case 'yaml':
      return 'application/yaml';
    case 'protobuf':
      return 'application/vnd.kubernetes.protobuf';
  }
}

/** Of a watch; JSON needs no word about its framing. */
export function streamContentType(representation: Representation): string {
  const type = contentType(representation);
  return representation.format === 'protobuf' ? `${type};stream=watch` : type;
}

/** Before anything else, some clause must name a type that the path produces; here wildcards like application/* do not count. */
function assertRouteProduces(header: string, produces: readonly string[]): void {
  if (header === '') return;
  for (const part of header.split(',')) {
    const mediaType = (part.split(';')[0] ?? '').trim();
    if (mediaType === '*/*' || produces.includes(mediaType)) return;
  }
  throw failure({
    code: 406,
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`,
  });
}

type Transform = { readonly group: string; readonly version: string; readonly kind: string };
type Parameters = AcceptClause['parameters'];
type Chosen = { readonly offer: Offer; readonly parameters: Parameters };

function choose(
  header: string,
  allows: (offer: Offer, transform: Transform | undefined) => boolean,
): Chosen | undefined {
  const [first] = offers;
  if (header === '' && first !== undefined) return { offer: first, parameters: {} };
  for (const clause of parseAccept(header)) {
    for (const offer of offers) {
      if (!acceptsMediaType(clause, offer.type, offer.subtype)) continue;
      const { parameters } = clause;
      if (allowsStream(parameters, offer) && allows(offer, transformOf(parameters))) {
        return { offer, parameters };
      }
    }
  }
  return undefined;
}

function allowsStream(parameters: Parameters, offer: Offer): boolean {
  const stream = parameters.stream ?? '';
  const serverVersion = parameters.sv ?? '';
  const streamFits = stream === '' || (offer.streams && stream === 'watch');
  return streamFits && (serverVersion === '' || serverVersion === 'v1');
}

function transformOf(parameters: Parameters): Transform | undefined {
  const { as, g, v } = parameters;
  if (as === undefined && g === undefined && v === undefined) return undefined;
  return { group: g ?? '', version: v ?? '', kind: as ?? '' };
}

const transformKinds = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

function allowsTransform(transform: Transform | undefined): boolean {
  if (transform === undefined) return true;
  const { group, version, kind } = transform;
  return (
    group === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(version) && transformKinds.includes(kind)
  );
}

function hasShape(transform: Transform | undefined, forms: NegotiateOptions['forms']): boolean {
  if (transform === undefined || forms === 'all') return true;
  return forms === 'metadata' && transform.kind !== 'Table';
}

/** A Table has no protobuf form in Kubernetes either. */
function hasForm(offer: Offer, transform: Transform | undefined, protobuf: boolean): boolean {
  return offer.format !== 'protobuf' || (protobuf && transform?.kind !== 'Table');
}

function notAcceptable(accepted: readonly string[]): Error {
  const message = `only the following media types are accepted: ${accepted.join(', ')}`;
  return failure({ code: 406, reason: 'NotAcceptable', message });
}

const trueTexts = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const indentedAgents = ['curl', 'Wget', 'Mozilla/5.0'];

function wantsPretty(query: QueryOptions, userAgent = ''): boolean {
  const pretty = query.get('pretty') ?? '';
  if (pretty !== '') return trueTexts.includes(pretty);
  return indentedAgents.some((agent) => userAgent.startsWith(agent));
}

function readIncludeObject(query: QueryOptions): IncludeObject {
  const value = query.get('includeObject') ?? '';
  switch (value) {
    case '':
      return 'Metadata';
    case 'Metadata':
    case 'Object':
    case 'None':
      return value;
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
      );
  }
}
