// What both versions of HTTP share when a request comes in.
import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../message.ts';

/** Shared by all requests without one; nobody changes a query. */
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

/** Node joins repeated headers with commas, which group names may hold: those for impersonation stay apart. */
export function separateHeaders(
  headers: Headers,
  rawHeaders: readonly string[],
): ApiRequest['headers'] {
  const own: string[] = [];
  // By its first letter first: this is asked of every header of every request.
  for (const name in headers) {
    if (name.charCodeAt(0) === letterI && name.startsWith('impersonate-')) own.push(name);
  }
  if (own.length === 0) return headers;
  const values = (name: string): readonly string[] =>
    rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return { ...headers, ...Object.fromEntries(own.map((name) => [name, values(name)])) };
}

const letterI = 'i'.charCodeAt(0);

/** The one that the client chose, when it can be written down. */
export function auditIdOf({ 'audit-id': chosen }: Headers): string {
  return typeof chosen === 'string' && /^[!-~]{1,64}$/.test(chosen) ? chosen : randomUUID();
}
