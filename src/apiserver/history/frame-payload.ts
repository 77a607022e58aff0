// The payload of a frame: for each resource its records, compressed, and encrypted where the objects are.
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Transformer } from '../encryption/transformer.ts';
import { Unreadable } from '../encryption/unreadable.ts';
import { type ChangeRecord, decodeRecords } from './change-records.ts';
import { encodeKeys, type FramePart, type Moment } from './frames.ts';
import type { Batch } from './record-buffer.ts';

/** Absent: stored as they are. */
export type TransformerOf = ((resource: string) => Transformer) | undefined;

export type Payload = { readonly parts: readonly FramePart[]; readonly payload: Buffer };

/** Uncompressed; frames are closed long before. */
const maxPartBytes = 256 * 1024 * 1024;

/** Deltas are little more than what changed: higher levels save a tenth and take three times as long. */
const deflateLevel = 1;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export async function encodePayload(
  batch: Batch,
  from: Moment,
  transformerOf: TransformerOf,
): Promise<Payload> {
  const parts: FramePart[] = [];
  const pieces: Buffer[] = [];
  let offset = 0;
  for (const [resource, { bytes: records, hashes }] of batch) {
    const plain: Buffer = await deflate(records, { level: deflateLevel });
    const seal = transformerOf?.(resource).seal;
    const bytes =
      seal === undefined ? plain : Buffer.from(seal(wrap(plain), pathOf(resource, from)));
    parts.push({
      resource,
      offset,
      length: bytes.length,
      isSealed: seal !== undefined,
      keys: encodeKeys(hashes),
    });
    pieces.push(bytes);
    offset += bytes.length;
  }
  return { parts, payload: Buffer.concat(pieces) };
}

type PartToDecode = {
  readonly part: FramePart;
  readonly payload: Buffer;
  readonly from: Moment;
  readonly transformerOf: TransformerOf;
};

/** Undefined where it cannot be decrypted. */
export async function decodePart({
  part,
  payload,
  from,
  transformerOf,
}: PartToDecode): Promise<readonly ChangeRecord[] | undefined> {
  const { resource, offset, length, isSealed } = part;
  const bytes = payload.subarray(offset, offset + length);
  const plain = isSealed
    ? unsealed(bytes, pathOf(resource, from), transformerOf?.(resource))
    : bytes;
  if (plain === undefined) return undefined;
  return decodeRecords(await inflate(plain, { maxOutputLength: maxPartBytes }));
}

/** What sealed bytes are bound to. */
const pathOf = (resource: string, { revision }: Moment): string =>
  `/history/${resource}/${revision}`;

/** Some ciphers have no tag: that the plain text is JSON is how a wrong key is noticed. */
const wrap = (bytes: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ history: bytes.toString('base64') }));

function unsealed(
  bytes: Buffer,
  path: string,
  transformer: Transformer | undefined,
): Buffer | undefined {
  try {
    const value = transformer?.open(bytes, path).value;
    if (value === undefined) return undefined;
    const { history } = JSON.parse(Buffer.from(value).toString('utf8')) as { history: string };
    return Buffer.from(history, 'base64');
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
