// Reads the head of a request, for both versions of HTTP.
import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../message.ts';

/** Shared by all requests without a query; queries are never changed. */
const noQuery = new URLSearchParams();

export type Url = Pick<ApiRequest, 'path' | 'query'> & { readonly rawQuery: string };

export function splitUrl(url: string): Url {
  const at = url.indexOf('?');
  if (at < 0) return { path: url, query: noQuery, rawQuery: '' };
  const rawQuery = url.slice(at + 1);
  return {
    path: url.slice(0, at),
    query: rawQuery === '' ? noQuery : new URLSearchParams(rawQuery),
    rawQuery,
  };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Node.js joins repeated headers with commas, which group names may contain: those of impersonation stay lists. */
export function separateHeaders(
  headers: Headers,
  rawHeaders: readonly string[],
): ApiRequest['headers'] {
  const own: string[] = [];
  // The first letter first: this runs for every header of every request.
  for (const name in headers) {
    if (name.charCodeAt(0) === letterI && name.startsWith('impersonate-')) own.push(name);
  }
  if (own.length === 0) return headers;
  const values = (name: string): readonly string[] =>
    rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return { ...headers, ...Object.fromEntries(own.map((name) => [name, values(name)])) };
}

const letterI = 'i'.charCodeAt(0);

/** The client's, when it is short and printable. */
export function auditIdOf({ 'audit-id': provided }: Headers): string {
  return typeof provided === 'string' && /^[!-~]{1,64}$/.test(provided) ? provided : randomUUID();
}
