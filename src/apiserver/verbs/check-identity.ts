// What is written must be the object of the path.
import { badRequest } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { type Call, namespaceOf } from './call.ts';

/** Throws 400 where the name or the namespace is another one. */
export function checkIdentity(call: Call, object: KubeObject): void {
  checkName(object, call.info.name);
  checkNamespace(call, object);
}

function checkName({ metadata }: KubeObject, name: string): void {
  if (metadata.name === undefined) throw missingName(name);
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
}

export function missingName(name: string): Error {
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
