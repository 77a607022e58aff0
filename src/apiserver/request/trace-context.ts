// W3C Trace Context: the trace of a request, from its traceparent header.
import { randomBytes } from 'node:crypto';

export type Trace = { readonly traceId: string; readonly flags: string };

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what is not valid; then a request starts a trace of its own. */
export function parseTraceparent(header: string): Trace | undefined {
  const [, version = '', traceId = '', parent = '', flags = '', more] = form.exec(header) ?? [];
  if (version === '' || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(parent))
    return undefined;
  // Version 00 has four parts; later ones may have more.
  return version === '00' && more !== undefined ? undefined : { traceId, flags };
}

/** For the response: the same trace, with a new span ID. */
export function formatTraceparent({ traceId, flags }: Trace): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}`;
}

/** Without a trace of the client the audit ID, which is random, becomes the trace ID. */
export function traceIdOf(header: string | undefined, auditId: string): string {
  const parent = header === undefined ? undefined : parseTraceparent(header);
  return parent?.traceId ?? auditId.replaceAll('-', '');
}
