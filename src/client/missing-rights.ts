// Says which right a part lacks. The part itself only sees a request that failed, tries again with back-off and goes on with the rest;
// a person has to grant the right, so it is told by name, once for each and now and then again.
import type { Clock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { toApiError } from './api-call.ts';
import type { Transport } from './transport.ts';

export type MissingRightsOptions = { readonly clock: Clock; readonly log: Log };

/** What is not granted meanwhile is told again. */
const repeatMs = 600_000;
/** More than all roles of a part have rules; past it the oldest is forgotten, and told again. */
const maxKnown = 500;

export function reportMissingRights<T extends Transport>(
  transport: T,
  { clock, log }: MissingRightsOptions,
): T {
  const toldAt = new Map<string, number>();
  const tell = (message: string): void => {
    const right = missingRight(message);
    if (right === undefined) return;
    const key = Object.values(right).join(' ');
    const before = toldAt.get(key);
    if (before !== undefined && clock.now() - before < repeatMs) return;
    toldAt.delete(key);
    toldAt.set(key, clock.now());
    const [oldest] = toldAt.keys();
    if (toldAt.size > maxKnown && oldest !== undefined) toldAt.delete(oldest);
    log.warn('missing right, will retry', { ...right, error: message });
  };
  return {
    ...transport,
    async send(request) {
      const response = await transport.send(request);
      if (response.status !== 403) return response;
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      tell(toApiError(403, body.toString('utf8')).message);
      return { ...response, body: once(body) };
    },
  };
}

export type MissingRight = {
  readonly user: string;
  readonly verb: string;
  /** With its group as kubectl names it, or the path: `endpointslices.discovery.k8s.io`. */
  readonly resource: string;
  readonly namespace: string;
};

/** Reads the words of an authorizer; a refusal for another reason, as by admission, is none. */
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
