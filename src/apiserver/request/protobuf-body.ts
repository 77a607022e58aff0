// A request body in protobuf: what it says it is, and its fields once it is known what they should be.

import type { JsonObject } from '../../schema/json-object.ts';
import type { StructNode } from '../../schema/node.ts';
import { fromProtobuf } from '../../schema/protobuf/decode.ts';
import { openEnvelope } from '../../schema/protobuf/envelope.ts';
import { ProtobufError, TooManyFields } from '../../schema/protobuf/wire.ts';
import { tooManyValues } from '../limits/check-values.ts';

export type ProtobufBody = {
  /** Left out where the body does not say. */
  readonly type: { readonly kind?: string; readonly apiVersion?: string };
  /** The fields as a JSON body would have had them; bad bytes end in `fail`. */
  readonly fields: (schema: StructNode, fail: (why: string) => Error) => JsonObject;
};

export function openProtobufBody(body: Uint8Array, fail: (why: string) => Error): ProtobufBody {
  const { kind, apiVersion, message } = telling(fail, () => openEnvelope(body));
  const type = {
    ...(kind === '' ? {} : { kind }),
    ...(apiVersion === '' ? {} : { apiVersion }),
  };
  return {
    type,
    fields: (schema, failInside) => ({
      ...type,
      ...telling(failInside, () => fromProtobuf(schema, message)),
    }),
  };
}

function telling<T>(fail: (why: string) => Error, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooManyFields) throw tooManyValues('values');
    if (error instanceof ProtobufError) throw fail(error.message);
    throw error;
  }
}
