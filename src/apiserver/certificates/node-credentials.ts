// How this server speaks to the agents of nodes: the certificate by which they know it, made when first needed and anew before it
// ends, and whose certificates it takes for theirs.
import { nodeClientUser } from '../access/known-users.ts';
import { issueClientCertificate } from './authority.ts';
import type { Credentials } from './ensure-certificates.ts';
import type { KeyPair } from './x509.ts';

const days = 365;
const renewAfterMs = 300 * 24 * 3600 * 1000;

/**
 * In no group: a role binding gives it what agents ask for (system:kubelet-api-admin) and nothing else, so that a node that leads
 * it back to an API server gains nothing.
 */
const subject = { commonName: nodeClientUser };

/** Whose certificate an agent must serve with. */
export type NodeTrust =
  /** One that this cluster signed for the very node, whatever its address. */
  | { readonly kind: 'node'; readonly authority: string }
  /** One that somebody else signed for the address, as upstream checks it; one for the very node will do as well. */
  | { readonly kind: 'address'; readonly authority: string }
  /** Any. */
  | { readonly kind: 'anybody' };

export type NodeCredentials = KeyPair & { readonly trust: NodeTrust };

export type NodeCredentialsOptions = {
  readonly now: () => number;
  /** Absent: the cluster's own authority must have signed for the node. */
  readonly trust?: NodeTrust;
};

export function createNodeCredentials(
  { authority }: Credentials,
  { now, trust = { kind: 'node', authority: authority.certificate } }: NodeCredentialsOptions,
): () => NodeCredentials {
  let made: { readonly pair: KeyPair; readonly at: number } | undefined;
  return () => {
    if (made === undefined || now() - made.at > renewAfterMs) {
      made = {
        pair: issueClientCertificate(authority, { ...subject, days, now: now() }),
        at: now(),
      };
    }
    return { ...made.pair, trust };
  };
}
