// A request body in protobuf: its kind and apiVersion, and its fields once the schema is known.

import type { JsonObject } from '../../schema/json-object.ts';
import type { StructNode } from '../../schema/node.ts';
import { fromProtobuf } from '../../schema/protobuf/decode.ts';
import { openEnvelope } from '../../schema/protobuf/envelope.ts';
import { ProtobufError, TooManyFields } from '../../schema/protobuf/wire.ts';
import { tooManyValues } from '../limits/check-values.ts';

export type ProtobufBody = {
  /** Members are absent where the body leaves them out. */
  readonly type: { readonly kind?: string; readonly apiVersion?: string };
  /** The fields as a JSON body would have had them; throws `fail` for invalid bytes. */
  readonly fields: (schema: StructNode, fail: (why: string) => Error) => JsonObject;
};

export function openProtobufBody(body: Uint8Array, fail: (why: string) => Error): ProtobufBody {
  const { kind, apiVersion, message } = mapErrors(fail, () => openEnvelope(body));
  const type = {
    ...(kind === '' ? {} : { kind }),
    ...(apiVersion === '' ? {} : { apiVersion }),
  };
  return {
    type,
    fields: (schema, failInside) => ({
      ...type,
      ...mapErrors(failInside, () => fromProtobuf(schema, message)),
    }),
  };
}

function mapErrors<T>(fail: (why: string) => Error, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooManyFields) throw tooManyValues('values');
    if (error instanceof ProtobufError) throw fail(error.message);
    throw error;
  }
}
