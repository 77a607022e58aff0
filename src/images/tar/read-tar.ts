// Reads a tar file from parts of any size. Pure: the caller brings the bytes and gets entries and their content in order.
import { blockBytes, isMeta, type MetaKind, parseHeader, type RawHeader } from './parse-header.ts';
import { maxPaxBytes, paxRecords } from './pax-records.ts';
import { type TarEntry, TarError } from './tar-entry.ts';

export type TarEvent =
  | { readonly kind: 'entry'; readonly entry: TarEntry }
  /** Valid until the next event. */
  | { readonly kind: 'content'; readonly bytes: Buffer }
  /** After the content of each entry. */
  | { readonly kind: 'end' };

export type TarReader = {
  /** All events have to be taken before the next part. Throws TarError. */
  readonly push: (part: Buffer) => Generator<TarEvent, void>;
  /** Throws TarError if the file ended within an entry. */
  readonly finish: () => void;
};

/** A path of Linux with its zero byte. */
const maxPathBytes = 4096;
/** Of which the last one has to be followed by an entry: more is a loop of a program that writes them. */
const maxMetaHeaders = 8;
/** Of one file; Linux has room for about so many short ones. */
const maxAttributes = 100;
const attributePrefix = 'SCHILY.xattr.';

type Meta = {
  name?: string;
  target?: string;
  records: ReadonlyMap<string, Buffer>;
  headers: number;
};

type State = {
  /** The beginning of a header or of a meta entry's content. */
  partial: Buffer;
  /** Of the current entry. */
  remaining: number;
  padding: number;
  collects?: { readonly kind: MetaKind; readonly parts: Buffer[] };
  isInEntry: boolean;
  isAtEnd: boolean;
  meta: Meta;
};

const noMeta = (): Meta => ({ records: new Map(), headers: 0 });

export function createTarReader(): TarReader {
  const state: State = {
    ...{ partial: Buffer.alloc(0), remaining: 0, padding: 0 },
    ...{ isInEntry: false, isAtEnd: false, meta: noMeta() },
  };
  return {
    push: (part) => readPart(state, part),
    finish: () => {
      const isWithin = state.partial.length > 0 || state.remaining > 0 || state.meta.headers > 0;
      if (!state.isAtEnd && isWithin) throw new TarError('the file ends within an entry');
    },
  };
}

function* readPart(state: State, part: Buffer): Generator<TarEvent, void> {
  let at = 0;
  while (at < part.length && !state.isAtEnd) {
    if (state.isInEntry) {
      at += yield* readContent(state, part.subarray(at));
      continue;
    }
    const missing = blockBytes - state.partial.length;
    const piece = part.subarray(at, at + missing);
    at += piece.length;
    const block = state.partial.length === 0 ? piece : Buffer.concat([state.partial, piece]);
    if (block.length < blockBytes) {
      // A copy: the part belongs to the caller.
      state.partial = Buffer.from(block);
      return;
    }
    state.partial = Buffer.alloc(0);
    yield* startEntry(state, block);
  }
}

/** Returns how many bytes it has used. */
function* readContent(state: State, part: Buffer): Generator<TarEvent, number> {
  const content = part.subarray(0, state.remaining);
  state.remaining -= content.length;
  if (content.length > 0) {
    if (state.collects === undefined) yield { kind: 'content', bytes: content };
    else state.collects.parts.push(Buffer.from(content));
  }
  const padding = Math.min(state.padding, part.length - content.length);
  if (state.remaining === 0) {
    state.padding -= padding;
    if (state.padding === 0) yield* endEntry(state);
    return content.length + padding;
  }
  return content.length;
}

function* endEntry(state: State): Generator<TarEvent, void> {
  state.isInEntry = false;
  const { collects } = state;
  if (collects === undefined) {
    yield { kind: 'end' };
    return;
  }
  delete state.collects;
  takeMeta(state.meta, collects.kind, Buffer.concat(collects.parts));
}

function takeMeta(meta: Meta, kind: MetaKind, content: Buffer): void {
  const zero = content.indexOf(0);
  const text = content.toString('latin1', 0, zero < 0 ? content.length : zero);
  if (kind === 'longName') meta.name = text;
  else if (kind === 'longTarget') meta.target = text;
  else if (kind === 'pax') meta.records = paxRecords(content);
  // A global header has defaults, which programs that build images use for comments only.
}

function* startEntry(state: State, block: Buffer): Generator<TarEvent, void> {
  const header = parseHeader(block);
  if (header === undefined) {
    state.isAtEnd = true;
    return;
  }
  if (isMeta(header.kind)) {
    state.meta.headers += 1;
    checkMeta(header, state.meta);
    state.collects = { kind: header.kind, parts: [] };
    enter(state, header.size);
  } else {
    const entry = entryOf(header, header.kind, state.meta);
    state.meta = noMeta();
    enter(state, entry.size);
    yield { kind: 'entry', entry };
  }
  if (state.remaining === 0) yield* endEntry(state);
}

function enter(state: State, size: number): void {
  state.isInEntry = true;
  state.remaining = size;
  state.padding = (blockBytes - (size % blockBytes)) % blockBytes;
}

function checkMeta({ kind, size }: RawHeader, { headers }: Meta): void {
  const max = kind === 'pax' || kind === 'global' ? maxPaxBytes : maxPathBytes;
  if (size > max)
    throw new TarError(`an extended header has ${size} bytes, which is more than ${max}`);
  if (headers > maxMetaHeaders)
    throw new TarError(`an entry has more than ${maxMetaHeaders} extended headers`);
}

function entryOf(header: RawHeader, given: TarEntry['kind'], meta: Meta): TarEntry {
  const { records } = meta;
  for (const key of records.keys()) {
    if (key.startsWith('GNU.sparse.'))
      throw new TarError('an entry is a sparse file, which is not supported');
  }
  const text = (key: string): string | undefined => records.get(key)?.toString('latin1');
  const name = text('path') ?? meta.name ?? header.name;
  const target = text('linkpath') ?? meta.target ?? header.target;
  checkPath(name);
  checkPath(target);
  const kind = header.isOld && name.endsWith('/') ? 'directory' : given;
  return {
    ...{ kind, name, target },
    mode: header.mode,
    uid: wholeNumber(records, 'uid') ?? header.uid,
    gid: wholeNumber(records, 'gid') ?? header.gid,
    mtime: timeOf(text('mtime')) ?? header.mtime,
    size: kind === 'file' ? (wholeNumber(records, 'size') ?? header.size) : 0,
    device: header.device,
    attributes: attributesOf(records),
  };
}

function checkPath(path: string): void {
  if (path.length >= maxPathBytes)
    throw new TarError(`a path has ${path.length} bytes, which is more than ${maxPathBytes - 1}`);
  if (path.includes('\0')) throw new TarError('a path contains a zero byte');
}

function wholeNumber(records: ReadonlyMap<string, Buffer>, key: string): number | undefined {
  const text = records.get(key)?.toString('latin1', 0, 20);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new TarError(`an extended header has a ${key} that is not a number`);
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text.slice(0, 40));
  if (/^-?\d/.test(text) && Number.isFinite(value)) return value;
  throw new TarError('an extended header has an mtime that is not a number');
}

function attributesOf(records: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const attributes = new Map<string, Buffer>();
  for (const [key, value] of records) {
    if (key.startsWith(attributePrefix)) attributes.set(key.slice(attributePrefix.length), value);
  }
  if (attributes.size > maxAttributes)
    throw new TarError(`an entry has ${attributes.size} attributes, more than ${maxAttributes}`);
  return attributes;
}
