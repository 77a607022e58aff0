// Header values as Node.js wants them.

/** Node.js writes each character of a header value as one byte and refuses larger ones; our values are UTF-8. */
export function encodeHeaderValue(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
