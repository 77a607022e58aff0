import type { Secret } from './types.ts';

/** Merges stringData into data, and sets the default type. */
export function defaultSecret(secret: Secret): Secret {
  const { data, stringData, type, ...rest } = secret;
  const folded = stringData === undefined ? data : { ...data, ...encodeValues(stringData) };
  return { ...rest, ...(folded === undefined ? {} : { data: folded }), type: type || 'Opaque' };
}

function encodeValues(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]),
  );
}
