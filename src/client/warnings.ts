// Parses the Warning headers of responses (RFC 7234, section 5.5).

/** `299 - "text", 299 - "more"` → texts; other codes are not meant for users. */
export function parseWarnings(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) =>
    quoted.replace(/\\(.)/g, '$1'),
  );
}
