// Converts compact JSON to the negotiated encoding, except protobuf.
import type { AnyKind } from '../../kinds/definition.ts';
import type { Status } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { StructNode } from '../../schema/node.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { contentType, type Representation } from './negotiate.ts';
import { toYaml } from './yaml.ts';

export type EncodedBody = {
  readonly contentType: string;
  readonly body: Buffer;
  /** The body is JSON that is yet to be brought into this form, because that takes long. */
  readonly convert?: 'yaml' | 'pretty';
};

/** Objects that are encoded without a pause. */
const maxFormattedHere = 32 * 1024;

/** What encoding needs to know of a kind. Kinds without columns show their name and when they were made. */
export type EncodedKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: StructNode;
  readonly columns?: AnyKind['columns'];
  readonly rowConditions?: AnyKind['rowConditions'];
  /** Group of the resource whose stored objects these are, when it is not their own. */
  readonly storedAs?: { readonly group: string };
};

/** An object with its shared bytes, or one that was made for this answer alone. */
export type Encodable = Cached | KubeObject;

export function isCached(value: Encodable | Status): value is Cached {
  return 'prefixLength' in value;
}

export function objectOf(value: Encodable): KubeObject {
  return isCached(value) ? value.object : value;
}

export function jsonOf(value: Encodable): Buffer {
  return isCached(value) ? value.json : Buffer.from(JSON.stringify(value));
}

export function toBody(representation: Representation, json: Buffer): EncodedBody {
  const { format: form, pretty } = representation;
  const isPlain = form === 'json' && !pretty;
  if (!isPlain && json.length > maxFormattedHere) {
    const convert = form === 'yaml' ? 'yaml' : 'pretty';
    return { contentType: contentType(representation), body: json, convert };
  }
  return { contentType: contentType(representation), body: format(representation, json) };
}

/** For small bodies, and for responses that must be synchronous. */
export function toBodyAtOnce(representation: Representation, json: Buffer): EncodedBody {
  return { contentType: contentType(representation), body: format(representation, json) };
}

function format({ format, pretty }: Representation, json: Buffer): Buffer {
  if (format === 'json' && !pretty) return json;
  const value: unknown = JSON.parse(json.toString('utf8'));
  return Buffer.from(format === 'yaml' ? toYaml(value) : JSON.stringify(value, undefined, 2));
}
