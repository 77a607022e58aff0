// Logs which permissions a part lacks. The part itself sees only a failed request and retries; a person has to grant the permission, so
// each one is logged by name, once, and again every ten minutes while it is missing.
import type { Clock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { toApiError } from './api-call.ts';
import type { Transport } from './transport.ts';

export type MissingRightsOptions = { readonly clock: Clock; readonly log: Log };

/** Permissions that are still missing are logged again after this time. */
const repeatMs = 600_000;
/** More than the rules of any part; beyond it the oldest entry is evicted, and would be logged again. */
const maxReported = 500;

export function reportMissingRights<T extends Transport>(
  transport: T,
  { clock, log }: MissingRightsOptions,
): T {
  const reportedAt = new Map<string, number>();
  const report = (message: string): void => {
    const right = missingRight(message);
    if (right === undefined) return;
    const key = Object.values(right).join(' ');
    const before = reportedAt.get(key);
    if (before !== undefined && clock.now() - before < repeatMs) return;
    reportedAt.delete(key);
    reportedAt.set(key, clock.now());
    const [oldest] = reportedAt.keys();
    if (reportedAt.size > maxReported && oldest !== undefined) reportedAt.delete(oldest);
    log.warn('Missing permission, retrying', { ...right, error: message });
  };
  return {
    ...transport,
    async send(request) {
      const response = await transport.send(request);
      if (response.status !== 403) return response;
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      report(toApiError(403, body.toString('utf8')).message);
      return { ...response, body: once(body) };
    },
  };
}

export type MissingRight = {
  readonly user: string;
  readonly verb: string;
  /** With its group as kubectl names it (`endpointslices.discovery.k8s.io`), or the path. */
  readonly resource: string;
  readonly namespace: string;
};

/** Parses an authorizer's message; undefined for refusals of other kinds, such as admission. */
export function missingRight(message: string): MissingRight | undefined {
  const [, user = '', verb = '', what = ''] =
    /User "([^"]*)" cannot (\S+) (resource "[^"]*" in API group "[^"]*"|path "[^"]*")/.exec(
      message,
    ) ?? [];
  if (verb === '') return undefined;
  const [plural = '', group = ''] = [...what.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
  const [, namespace = ''] = /in the namespace "([^"]*)"/.exec(message) ?? [];
  return { user, verb, resource: group === '' ? plural : `${plural}.${group}`, namespace };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
