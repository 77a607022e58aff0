// Creates an object unless it exists.
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import type { ApiContext } from '../context.ts';
import type { BootstrapObject } from '../kubernetes-service/objects.ts';
import { typed } from '../request/decode-body.ts';
import { createObject } from './create-object.ts';
import { serverWrite } from './server-write.ts';

export async function ensureObject(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const { name } = wanted.body.metadata;
  const resource = context.resources.of(wanted.resource);
  const { cache } = resource;
  const key = resource.codec.key(wanted.namespace, name);
  const exists = (): boolean => cache.getReadable(key) !== undefined || cache.isUnreadable(key);
  if (exists()) return;
  try {
    await createObject(context, {
      resource,
      namespace: wanted.namespace,
      object: decodedObject(context, wanted),
      write: serverWrite(context),
    });
  } catch (error) {
    // Another API server on the same store was faster; for a Service, the allocated address is what fails first.
    if (!exists()) throw error;
  }
}

/** As if a client had sent it. */
export function decodedObject(
  context: ApiContext,
  { resource, body }: BootstrapObject,
): KubeObject {
  const { definition } = context.resources.of(resource);
  const { object, error, problems } = decode(definition.schema, body);
  if (error !== undefined || problems.unknown.length > 0) {
    throw new Error(`Cannot make "${body.metadata.name}": ${error ?? problems.unknown.join(', ')}`);
  }
  const whole = typed(object as KubeObject, definition);
  return definition.defaults?.(whole) ?? whole;
}
