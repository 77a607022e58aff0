// The certificate with which this server speaks to the agents of nodes; made when first needed, and anew before it ends.
import { issueClientCertificate } from './authority.ts';
import type { Credentials } from './ensure-certificates.ts';
import type { KeyPair } from './x509.ts';

const days = 365;
const renewAfterMs = 300 * 24 * 3600 * 1000;

/** As kubeadm names it; who may use all of a node is in this group. */
const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] };

export type NodeCredentials = KeyPair & {
  /** PEM of who must have signed the certificates that agents serve with; absent: nobody looks. */
  readonly trusted?: string;
};

export type NodeCredentialsOptions = Pick<NodeCredentials, 'trusted'> & {
  readonly now: () => number;
};

export function createNodeCredentials(
  { authority }: Credentials,
  { now, ...trust }: NodeCredentialsOptions,
): () => NodeCredentials {
  let made: { readonly pair: KeyPair; readonly at: number } | undefined;
  return () => {
    if (made === undefined || now() - made.at > renewAfterMs) {
      made = {
        pair: issueClientCertificate(authority, { ...subject, days, now: now() }),
        at: now(),
      };
    }
    return { ...made.pair, ...trust };
  };
}
