// Serves /openapi/v2 and /openapi/v3. Documents are built on the first request: most servers never get one.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { AnyKind } from '../../kinds/definition.ts';
import { servedGroups, type VirtualKind } from '../discovery/served-kind.ts';
import { acceptsMediaType, parseAccept } from '../encode/accept.ts';
import { takesGzip } from '../encode/compress.ts';
import type { ApiResponse } from '../message.ts';
import { documentV2 } from './document-v2.ts';
import { type DocumentV3, documentsV3, type SpokenKind } from './document-v3.ts';
import { toProtobufV2 } from './protobuf-v2.ts';

export type OpenApiOptions = {
  readonly definitions: readonly AnyKind[];
  readonly virtualKinds: readonly VirtualKind[];
  readonly spokenKinds?: readonly SpokenKind[];
  /** Version of the API, as in /version. */
  readonly version: string;
};

export type OpenApiRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept?: string | undefined;
  readonly acceptEncoding?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
};

export type OpenApi = {
  /** Undefined when the path is none of OpenAPI's. */
  readonly handle: (request: OpenApiRequest) => Promise<ApiResponse | undefined>;
};

/** An immutable document with its hash and, once requested, its compressed form. */
type Page = {
  readonly contentType: string;
  readonly body: Buffer;
  readonly hash: string;
  readonly compressed: () => Promise<Buffer>;
};

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const pages = createPages(options);
  return {
    async handle(request) {
      const path = request.path.replace(/\/$/, '');
      if (path === '/openapi/v2') return await answerV2(pages, request);
      if (path === '/openapi/v3' || path.startsWith('/openapi/v3/')) {
        return await answerV3(pages, path, request);
      }
      return undefined;
    },
  };
}

type Pages = {
  readonly v2: { readonly json: () => Page; readonly protobuf: () => Page };
  readonly index: () => Page;
  readonly v3: (name: string) => Page | undefined;
};

function createPages(options: OpenApiOptions): Pages {
  const { definitions, virtualKinds, spokenKinds = [], version } = options;
  const builders = once(() => {
    const groups = servedGroups(definitions, virtualKinds);
    return documentsV3({ groups, spokenKinds, version });
  });
  const documents = keyed((name) => builders().get(name)?.());
  const v3 = keyed((name) => {
    const document = documents(name);
    return document && toPage('application/json', JSON.stringify(document));
  });
  const index = once(() => {
    const names = [...builders().keys()].sort();
    const url = (name: string) => `/openapi/v3/${name}?hash=${v3(name)?.hash ?? ''}`;
    const paths = names.map((name) => [name, { serverRelativeURL: url(name) }]);
    return toPage('application/json', JSON.stringify({ paths: Object.fromEntries(paths) }));
  });
  const whole = once(() => {
    const all = [...builders().keys()].map(documents);
    return documentV2(
      all.filter((document): document is DocumentV3 => document !== undefined),
      version,
    );
  });
  const v2 = {
    json: once(() => toPage('application/json', JSON.stringify(whole()))),
    protobuf: once(() => toPage(protobufV2Type, toProtobufV2(whole()))),
  };
  return { v2, index, v3 };
}

async function answerV2({ v2 }: Pages, request: OpenApiRequest): Promise<ApiResponse> {
  const form = chooseV2(request.accept ?? '');
  return form === undefined ? notAcceptable : await answer(v2[form](), request);
}

async function answerV3(pages: Pages, path: string, request: OpenApiRequest): Promise<ApiResponse> {
  if (!takesJson(request.accept ?? '')) return notAcceptable;
  if (path === '/openapi/v3') return await answer(pages.index(), request);
  const page = pages.v3(path.slice('/openapi/v3/'.length));
  return page === undefined ? notFound : await answerHashed(page, path, request);
}

const notAcceptable: ApiResponse = { status: 406, headers: {}, body: '' };
const notFound: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: '404 page not found\n',
};

/** A URL with a hash is immutable; one with an outdated hash redirects to the current one. */
async function answerHashed(
  page: Page,
  path: string,
  request: OpenApiRequest,
): Promise<ApiResponse> {
  const wanted = request.query.get('hash') ?? '';
  if (wanted === '') return await answer(page, request);
  if (wanted !== page.hash) {
    return { status: 301, headers: { location: `${path}?hash=${page.hash}` }, body: '' };
  }
  const response = await answer(page, request);
  const headers = { ...response.headers, 'cache-control': 'public, immutable, max-age=31536000' };
  return { ...response, headers };
}

async function answer(page: Page, request: OpenApiRequest): Promise<ApiResponse> {
  const headers = { etag: `"${page.hash}"`, vary: 'Accept, Accept-Encoding' };
  if (request.ifNoneMatch === headers.etag) return { status: 304, headers, body: '' };
  const typed = { ...headers, 'content-type': page.contentType };
  if (!takesGzip(request.acceptEncoding)) return { status: 200, headers: typed, body: page.body };
  const body = await page.compressed();
  return { status: 200, headers: { ...typed, 'content-encoding': 'gzip' }, body };
}

function toPage(contentType: string, content: string | Buffer): Page {
  const body = Buffer.from(content);
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase();
  return { contentType, body, hash, compressed: once(() => gzipAsync(body)) };
}

const gzipAsync = promisify<Buffer, Buffer>(gzip);

const protobufV2Type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** Older clients write the version after an at sign. */
const protobufV2Subtypes = [
  'com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'com.github.proto-openapi.spec.v2@v1.0+protobuf',
];

function chooseV2(accept: string): 'json' | 'protobuf' | undefined {
  if (accept === '') return 'json';
  for (const clause of parseAccept(accept)) {
    if (acceptsMediaType(clause, 'application', 'json')) return 'json';
    if (clause.type === 'application' && protobufV2Subtypes.includes(clause.subtype))
      return 'protobuf';
  }
  return undefined;
}

function takesJson(accept: string): boolean {
  return (
    accept === '' || parseAccept(accept).some((c) => acceptsMediaType(c, 'application', 'json'))
  );
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Caches existing names; unknown ones are unbounded and are not cached. */
function keyed<T>(make: (key: string) => T | undefined): (key: string) => T | undefined {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (value !== undefined) made.set(key, value);
    return value;
  };
}
