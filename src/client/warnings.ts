// Warnings that the server sends beside an answer, in the header of RFC 7234.

/** `299 - "text", 299 - "more"` → texts; what is not of code 299 is not for people. */
export function parseWarnings(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) =>
    quoted.replace(/\\(.)/g, '$1'),
  );
}
