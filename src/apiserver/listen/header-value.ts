// Header values as Node.js wants them.

/** Node.js writes each character of a header value as one byte and refuses larger ones; our values are UTF-8. */
export function encodeHeaderValue(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a received value: Node.js reads each byte as one character. What is not UTF-8 stays as it is. */
export function decodeHeaderValue(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch (error) {
    if (error instanceof TypeError) return value;
    throw error;
  }
}
