// The ConfigMap `cluster-info`, by which a joining machine finds the API server and its CA: readable by everyone, and
// signed with every bootstrap token, so that the owner of a token can verify it. Upstream: k8s.io/cluster-bootstrap.

export const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const;

/** A kubeconfig with the server's address and CA, without user. */
export const clusterInfoKey = 'kubeconfig';

const signaturePrefix = 'jws-kubeconfig-';

export const signatureKey = (tokenId: string): string => `${signaturePrefix}${tokenId}`;

export const isSignatureKey = (key: string): boolean => key.startsWith(signaturePrefix);

/** A detached signature of a text: header and MAC of a JSON Web Signature. */
export function detachedSignature(
  text: string,
  tokenId: string,
  mac: (signed: string) => string,
): string {
  const header = base64Url(JSON.stringify({ alg: 'HS256', kid: tokenId }));
  return `${header}..${mac(`${header}.${base64Url(text)}`)}`;
}

const base64Url = (text: string): string => Buffer.from(text).toString('base64url');
