// Skips names and records without decoding them.

/** The offset behind a name, or -1 when it exceeds the packet. */
export function skipName(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  while (at < length) {
    const label = bytes[at] ?? 0;
    if (label === 0) return at + 1;
    if (label >= 0xc0) return at + 2 <= length ? at + 2 : -1;
    if (label > 63) return -1;
    at += 1 + label;
  }
  return -1;
}

/** The offset behind a record, or -1. */
export function skipRecord(bytes: Uint8Array, start: number, length: number): number {
  const fixed = skipName(bytes, start, length);
  if (fixed < 0 || fixed + 10 > length) return -1;
  const end = fixed + 10 + (((bytes[fixed + 8] ?? 0) << 8) | (bytes[fixed + 9] ?? 0));
  return end <= length ? end : -1;
}
