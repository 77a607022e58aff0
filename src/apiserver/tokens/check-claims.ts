// Whether the claims of a token still hold: its time, its account, and the object it is bound to.

import type { KubeObject } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { parseTime } from '../../schema/time.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { TokenClaims } from './claims.ts';

/** Tolerance for clock skew, and for objects that are being deleted. */
const leewaySeconds = 60;

/** Upstream's message for an invalid token; undefined for a valid one. `now` in milliseconds. */
export function problemWithClaims(
  reader: ObjectReader,
  claims: TokenClaims,
  now: number,
): ClaimsProblem | undefined {
  const facts: Facts = { reader, claims, now };
  const outOfTime = problemWithTime(facts);
  if (outOfTime !== undefined) return { error: outOfTime };
  const unknown = problemWithAccount(facts) ?? problemWithBinding(facts);
  return unknown === undefined ? undefined : { error: unknown, isSignedHere: true };
}

/** `isSignedHere`: a stored object is missing, which another server may have written just now. */
export type ClaimsProblem = { readonly error: string; readonly isSignedHere?: true };

type Facts = { readonly reader: ObjectReader; readonly claims: TokenClaims; readonly now: number };

function problemWithTime({ claims, now }: Facts): string | undefined {
  const seconds = now / 1000;
  if (claims.notBefore > seconds + leewaySeconds) return 'service account token is not valid yet';
  if (claims.expires < seconds - leewaySeconds) return 'service account token has expired';
  if (claims.issuedAt > seconds + leewaySeconds)
    return 'service account token is issued in the future';
  return undefined;
}

function problemWithAccount({ reader, claims, now }: Facts): string | undefined {
  const { namespace, serviceAccount } = claims;
  const { name } = serviceAccount;
  const found = reader.get('serviceaccounts', namespace, name);
  if (found === undefined) return `serviceaccounts ${goQuote(name)} not found`;
  if (uidOf(found) !== serviceAccount.uid) {
    return `service account UID (${uidOf(found)}) does not match claim (${serviceAccount.uid})`;
  }
  return isDeleted(found, now)
    ? `service account ${namespace}/${name} has been deleted`
    : undefined;
}

function problemWithBinding(facts: Facts): string | undefined {
  const { namespace, pod, secret, node } = facts.claims;
  const inNamespace = { namespace };
  return (
    (secret && problemWithObject(facts, { what: 'secret', ...inNamespace, ...secret })) ??
    (pod && problemWithObject(facts, { what: 'pod', ...inNamespace, ...pod })) ??
    // The node in a pod's token is informational.
    (node && pod === undefined
      ? problemWithObject(facts, { what: 'node', namespace: '', uid: '', ...node })
      : undefined)
  );
}

type Bound = {
  readonly what: 'secret' | 'pod' | 'node';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

function problemWithObject({ reader, now }: Facts, bound: Bound): string | undefined {
  const { what, namespace, name, uid } = bound;
  const found = reader.get(`${what}s`, namespace, name);
  if (found !== undefined && uidOf(found) !== uid) {
    return `${what} UID (${uidOf(found)}) does not match service account ${what} ref claim (${uid})`;
  }
  return found === undefined || isDeleted(found, now)
    ? 'service account token has been invalidated'
    : undefined;
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

/** After its grace period: a pod that is terminating may still need its token. */
function isDeleted({ metadata }: KubeObject, now: number): boolean {
  const until = parseTime(metadata.deletionTimestamp ?? '');
  return until !== undefined && until < now - leewaySeconds * 1000;
}
