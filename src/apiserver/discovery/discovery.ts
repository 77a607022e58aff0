// Answers /api, /apis and the documents below them. Built once; every answer is ready-made bytes.
import { createHash } from 'node:crypto';
import type { AnyKind } from '../../kinds/definition.ts';
import { toBody } from '../encode/body.ts';
import { negotiate, type Representation } from '../encode/negotiate.ts';
import type { ApiResponse } from '../message.ts';
import {
  type AggregatedVersion,
  aggregateContentType,
  aggregatedVersions,
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
    ['/api', aggregatesOf(core)],
    ['/apis', aggregatesOf(named)],
  ]);

  return {
    paths: [...plain.keys()],
    handle(request) {
      const path = request.path.replace(/\/$/, '');
      const document = plain.get(path);
      if (document === undefined) return undefined;
      const version = aggregates.has(path) ? wantedAggregate(request.accept ?? '') : undefined;
      const aggregate = version && aggregates.get(path)?.get(version);
      if (version !== undefined && aggregate !== undefined) {
        return answerAggregate(aggregate, version, request.ifNoneMatch);
      }
      const { accept, query, userAgent } = request;
      const wanted = { allow: 'object', userAgent, protobuf: false } as const;
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

function aggregatesOf(groups: readonly ServedGroup[]): Map<AggregatedVersion, Aggregate> {
  return new Map(
    aggregatedVersions.map((version) => {
      const body = Buffer.from(JSON.stringify(groupDiscoveryList(version, groups)));
      const hash = createHash('sha512').update(body).digest('hex').toUpperCase();
      return [version, { body, etag: `"${hash}"` }];
    }),
  );
}

function answerAggregate(
  { body, etag }: Aggregate,
  version: AggregatedVersion,
  ifNoneMatch: string | undefined,
): ApiResponse {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (ifNoneMatch === etag) return { status: 304, headers, body: '' };
  const contentType = aggregateContentType(version);
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body };
}

function answerPlain(document: Buffer, representation: Representation): ApiResponse {
  // A discovery document has no other shapes: asking for a Table gives the document itself.
  const { contentType, body } = toBody(representation, document);
  return { status: 200, headers: { 'content-type': contentType, vary: 'Accept' }, body };
}
