// Serves /api, /apis and the documents below them, which are encoded once.
import { createHash } from 'node:crypto';
import type { AnyKind } from '../../kinds/definition.ts';
import { toBodyAtOnce } from '../encode/body.ts';
import { negotiate, plainJson, type Representation } from '../encode/negotiate.ts';
import type { ApiResponse } from '../message.ts';
import {
  type AggregateFormat,
  aggregateParameters,
  groupDiscoveryList,
  wantedAggregate,
} from './aggregated.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './plain.ts';
import { type ServedGroup, servedGroups, type VirtualKind } from './served-kind.ts';

export type DiscoveryOptions = {
  readonly definitions: readonly AnyKind[];
  readonly virtualKinds: readonly VirtualKind[];
  /** `host:port` under which clients reach this server. */
  readonly serverAddress: string;
};

export type DiscoveryRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly userAgent?: string | undefined;
};

export type Discovery = {
  /** Undefined when the path is not one of discovery's; throws ApiError 406. */
  readonly handle: (request: DiscoveryRequest) => ApiResponse | undefined;
  /** All that it answers. */
  readonly paths: readonly string[];
};

type Aggregate = { readonly body: Buffer; readonly etag: string };

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const groups = servedGroups(options.definitions, options.virtualKinds);
  const plain = plainDocuments(groups, options.serverAddress);
  const core = groups.filter(({ group }) => group === '');
  const named = groups.filter(({ group }) => group !== '');
  const aggregates = new Map([
    ['/api', aggregateOf(core)],
    ['/apis', aggregateOf(named)],
  ]);

  return {
    paths: [...plain.keys()],
    handle(request) {
      const path = request.path.replace(/\/$/, '');
      const document = plain.get(path);
      if (document === undefined) return undefined;
      const aggregate = aggregates.get(path);
      const format = wantedAggregate(request.accept ?? '');
      if (aggregate !== undefined && format !== undefined)
        return answerAggregate(aggregate, format, request.ifNoneMatch);
      const { accept, query, userAgent } = request;
      const wanted = { allow: 'object', userAgent, protobuf: false, forms: 'none' } as const;
      return answerPlain(document, negotiate(accept, query, wanted));
    },
  };
}

function plainDocuments(
  groups: readonly ServedGroup[],
  serverAddress: string,
): Map<string, Buffer> {
  const documents = new Map<string, Buffer>();
  const put = (path: string, document: object) =>
    documents.set(path, Buffer.from(JSON.stringify(document)));
  put('/apis', apiGroupList(groups));
  for (const group of groups) {
    const root = group.group === '' ? '/api' : `/apis/${group.group}`;
    put(root, group.group === '' ? apiVersions(group, serverAddress) : apiGroup(group));
    for (const version of group.versions) {
      put(`${root}/${version.version}`, apiResourceList(group, version));
    }
  }
  return documents;
}

function aggregateOf(groups: readonly ServedGroup[]): Aggregate {
  const body = Buffer.from(JSON.stringify(groupDiscoveryList(groups)));
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase();
  return { body, etag: `"${hash}"` };
}

function answerAggregate(
  { body, etag }: Aggregate,
  format: AggregateFormat,
  ifNoneMatch: string | undefined,
): ApiResponse {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (ifNoneMatch === etag) return { status: 304, headers, body: '' };
  const encoded = toBodyAtOnce({ ...plainJson, format }, body);
  const contentType = `${encoded.contentType}${aggregateParameters}`;
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body: encoded.body };
}

function answerPlain(document: Buffer, representation: Representation): ApiResponse {
  const { contentType, body } = toBodyAtOnce(representation, document);
  return { status: 200, headers: { 'content-type': contentType, vary: 'Accept' }, body };
}
