// PUT of a whole object, or of one of its subresources.

import type { UpdateRules } from '../../kinds/definition.ts';
import { badRequest } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ApiResponse } from '../message.ts';
import { updateObject } from '../objects/update-object.ts';
import { withoutRepeatedOwners } from '../request/owner-references.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { type Call, creation, namespaceOf, writeRequest } from './call.ts';
import { answerObject, assertAcceptable } from './get.ts';

export async function update(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const { context, request, resource, info } = call;
  const { definition } = resource;
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  const decoded = await readObject(call, definition, options);
  checkName(decoded, info.name);
  checkNamespace(call, decoded);
  const sent = withoutRepeatedOwners(decoded, 'body', call.warn);
  const wanted: KubeObject = definition.defaults?.(sent) ?? sent;
  const namespace = namespaceOf(call);
  const { cached, created } = await updateObject(context, {
    resource,
    namespace,
    name: info.name,
    subresource: info.subresource,
    rules: rulesOf(call),
    desired: () => wanted,
    ...(definition.createsOnUpdate && info.subresource === '' ? { create: creation(call) } : {}),
    needsVersion: definition.needsResourceVersion ?? false,
    checksUid: true,
    write: writeRequest(call, options),
  });
  return answerObject(call, created ? 201 : 200, cached);
}

export function rulesOf({ resource, subresource }: Call): UpdateRules<KubeObject> {
  return subresource?.rules ?? resource.definition.update;
}

function checkName({ metadata }: KubeObject, name: string): void {
  if (metadata.name === undefined) throw nameless(name);
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
}

export function nameless(name: string): Error {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

function checkNamespace(call: Call, { metadata }: KubeObject): void {
  const { definition } = call.resource;
  if (!definition.namespaced || metadata.namespace === undefined) return;
  if (metadata.namespace !== namespaceOf(call)) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** The checks a patched object passes: it must still be the object of the path. */
export function checkIdentity(call: Call, object: KubeObject): void {
  checkName(object, call.info.name);
  checkNamespace(call, object);
}
