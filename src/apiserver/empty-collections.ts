// Collections that clients look into and that are always empty here. kubectl asks whether a kind that it does not
// know is a custom one, and takes a missing collection for a broken server.
import { notFound } from '../meta/api-error.ts';
import { groupVersion, objectFields } from '../meta/object.ts';
import * as s from '../schema/node.ts';
import { encodeList } from './encode/list.ts';
import { negotiate } from './encode/negotiate.ts';
import { methodNotAllowed } from './handle.ts';
import { type ApiRequest, type ApiResponse, header } from './message.ts';
import type { ResourceRequest } from './request-info.ts';

const customResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  schema: s.struct('CustomResourceDefinition', objectFields, { numbers: [0, 0, 1] }),
};

export const emptyCollections = [customResource];

export function findEmptyCollection({ group, version, resource }: ResourceRequest) {
  return emptyCollections.find(
    (k) =>
      k.plural === resource && groupVersion(k.group, k.version) === groupVersion(group, version),
  );
}

export function answerEmpty(
  kind: typeof customResource,
  info: ResourceRequest,
  request: ApiRequest,
  revision: number,
): ApiResponse {
  if (info.verb === 'get') throw notFound({ group: kind.group, resource: kind.plural }, info.name);
  if (info.verb !== 'list') throw methodNotAllowed();
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'list' });
  const metadata = { resourceVersion: String(revision) };
  const { contentType, body } = encodeList(representation, kind, { items: [], metadata, now: 0 });
  return { status: 200, headers: { 'content-type': contentType }, body };
}
