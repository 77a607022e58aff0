// Base64 as Go's encoding/base64 reads it: line breaks are skipped, and errors name the offset of the bad byte.

export type DecodedBase64 = { readonly canonical: string } | { readonly error: string };

const canonicalForm =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

/** The text in canonical form, or Go's error. */
export function canonicalBase64(text: string): DecodedBase64 {
  if (canonicalForm.test(text)) return { canonical: text };
  const offset = firstBadByte(text);
  if (offset !== undefined) return { error: `illegal base64 data at input byte ${offset}` };
  return { canonical: Buffer.from(text, 'base64').toString('base64') };
}

/** The offset that Go's decoder reports: it reads groups of four, and reports inside or at the end of the bad one. */
function firstBadByte(text: string): number | undefined {
  const reader = readerOf(new TextEncoder().encode(text));
  for (let position = 0; ; position = (position + 1) % 4) {
    const byte = reader.next();
    if (byte === undefined) return position === 0 ? undefined : reader.at() - position;
    if (byte === equalsSign) return badPadding(reader, position);
    if (!isAlphabet(byte)) return reader.at() - 1;
  }
}

type Reader = {
  /** The next byte that is not a line break. */
  readonly next: () => number | undefined;
  readonly at: () => number;
};

function readerOf(bytes: Uint8Array): Reader {
  let at = 0;
  const next = (): number | undefined => {
    while (isLineBreak(bytes[at])) at++;
    return at < bytes.length ? bytes[at++] : undefined;
  };
  return { next, at: () => at };
}

const equalsSign = 0x3d;

/** One equals sign was read, at the given position of its group. */
function badPadding({ next, at }: Reader, position: number): number | undefined {
  if (position < 2) return at() - 1;
  if (position === 2) {
    const second = next();
    if (second === undefined) return at();
    // Go reports the byte before the expected second equals sign.
    if (second !== equalsSign) return at() - 2;
  }
  return next() === undefined ? undefined : at() - 1;
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}

function isAlphabet(byte: number): boolean {
  return /[A-Za-z0-9+/]/.test(String.fromCharCode(byte));
}
