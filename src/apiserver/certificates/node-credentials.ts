// The credentials of this server for node agents: its client certificate, created on first use and renewed before it
// expires, and the CA of their serving certificates.
import { nodeClientUser } from '../access/known-users.ts';
import { issueClientCertificate } from './authority.ts';
import type { Credentials } from './ensure-certificates.ts';
import type { KeyPair } from './x509.ts';

const days = 365;
const renewAfterMs = 300 * 24 * 3600 * 1000;

/**
 * Without groups: a role binding grants it only system:kubelet-api-admin, so that a node that redirects it to an API server
 * gains nothing.
 */
const subject = { commonName: nodeClientUser };

/** Whose certificate an agent must serve with. */
export type NodeTrust =
  /** One that this cluster signed for the very node, whatever its address. */
  | { readonly kind: 'node'; readonly authority: string }
  /** One of another CA for the address, as upstream checks it; one for the very node is accepted too. */
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
