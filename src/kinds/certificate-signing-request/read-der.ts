// Reads DER, as far as certificate requests need it. Malformed input gives undefined.

export type DerItem = {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly whole: Uint8Array;
};

/** Reads the single item that all bytes make up. */
export function readDer(bytes: Uint8Array): DerItem | undefined {
  const item = readItem(bytes, 0);
  return item?.whole.length === bytes.length ? item : undefined;
}

/** Reads consecutive items. */
export function readItems(bytes: Uint8Array): readonly DerItem[] | undefined {
  const items: DerItem[] = [];
  for (let at = 0; at < bytes.length; ) {
    const item = readItem(bytes, at);
    if (item === undefined) return undefined;
    items.push(item);
    at += item.whole.length;
  }
  return items;
}

/** Longer lengths do not occur in any real request. */
const maxLengthBytes = 3;

function readItem(bytes: Uint8Array, at: number): DerItem | undefined {
  const tag = bytes[at];
  const first = bytes[at + 1];
  // Multi-byte tags do not occur in certificate requests.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > maxLengthBytes) return undefined;
  const start = at + 2 + lengthBytes;
  if (start > bytes.length) return undefined;
  const length =
    lengthBytes === 0
      ? first
      : bytes.subarray(at + 2, start).reduce((value, byte) => value * 256 + byte, 0);
  const end = start + length;
  if (end > bytes.length) return undefined;
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) };
}

const objectIdentifierTag = 0x06;

export function readObjectIdentifier({ tag, content }: DerItem): string | undefined {
  if (tag !== objectIdentifierTag || content.length === 0) return undefined;
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
    if (byte >= 0x80) continue;
    parts.push(value);
    value = 0;
  }
  const [head = 0, ...rest] = parts;
  const first = Math.min(Math.floor(head / 40), 2);
  return [first, head - first * 40, ...rest].join('.');
}
