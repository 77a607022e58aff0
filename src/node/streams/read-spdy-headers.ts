// Reads and writes headers of SPDY streams, which are compressed as one zlib stream per connection. Each block ends with a flush at a byte
// boundary, so a block can be decompressed by itself, given the preceding window of text.
import { constants, inflateRawSync } from 'node:zlib';
import { spdyDictionary, spdyDictionaryId } from './spdy-dictionary.ts';
import { SpdyError } from './spdy-frames.ts';

export type SpdyHeaders = ReadonlyMap<string, string>;

/** The window size of deflate. */
const windowBytes = 32 * 1024;
/** Limit of a decompressed block; a few bytes can expand to millions. */
const maxHeaderBytes = 64 * 1024;
const maxHeaders = 100;
const streamHeadBytes = 6;
const deflateMethod = 8;
const dictionaryFlag = 0x20;

/** Throws SpdyError for malformed headers; the connection must be closed then. */
export function createHeaderReader(): (block: Uint8Array) => SpdyHeaders {
  let window: Buffer = Buffer.from(spdyDictionary);
  let isFirst = true;
  return (block) => {
    const bytes = Buffer.from(block);
    const body = isFirst ? withoutStreamHead(bytes) : bytes;
    isFirst = false;
    const text = inflate(body, window);
    window = Buffer.concat([window, text]).subarray(-windowBytes);
    return parseHeaders(text);
  };
}

function inflate(body: Buffer, dictionary: Buffer): Buffer {
  try {
    return inflateRawSync(body, {
      dictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxHeaderBytes,
    });
  } catch (error) {
    throw new SpdyError('invalid compressed headers', { cause: error });
  }
}

/** RFC 1950: method and flags, whose sum is a multiple of 31, and the checksum of the dictionary. */
function withoutStreamHead(bytes: Buffer): Buffer {
  const isHead =
    bytes.length >= streamHeadBytes &&
    (bytes.readUInt8(0) & 0xf) === deflateMethod &&
    bytes.readUInt16BE(0) % 31 === 0 &&
    (bytes.readUInt8(1) & dictionaryFlag) !== 0 &&
    bytes.readUInt32BE(2) === spdyDictionaryId;
  if (!isHead) throw new SpdyError('unsupported compression of headers');
  return bytes.subarray(streamHeadBytes);
}

function parseHeaders(text: Buffer): SpdyHeaders {
  let at = 0;
  const number = (): number => {
    if (at + 4 > text.length) throw new SpdyError('truncated headers');
    at += 4;
    return text.readUInt32BE(at - 4);
  };
  const word = (): string => {
    const length = number();
    if (at + length > text.length) throw new SpdyError('truncated headers');
    at += length;
    return text.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > maxHeaders) throw new SpdyError(`too many headers: ${count}`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const name = word().toLowerCase();
    headers.set(name, word());
  }
  return headers;
}

/** A sync flush marker: makes readers return the preceding data (Go's needs it). */
const flushMark = Buffer.of(0, 0, 0, 0xff, 0xff);

/** Stored without compression: responses have almost no headers. */
export function createHeaderWriter(): (headers: Readonly<Record<string, string>>) => Buffer {
  let isFirst = true;
  return (headers) => {
    const words = Object.entries(headers).flatMap(([name, value]) => [name.toLowerCase(), value]);
    const text = Buffer.concat([
      numberBytes(words.length / 2),
      ...words.flatMap((word) => [numberBytes(Buffer.byteLength(word)), Buffer.from(word)]),
    ]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(text.length, 1);
    stored.writeUInt16LE(0xffff - text.length, 3);
    const head = isFirst ? [Buffer.of(0x78, dictionaryFlag), numberBytes(spdyDictionaryId)] : [];
    isFirst = false;
    return Buffer.concat([...head, stored, text, flushMark]);
  };
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
