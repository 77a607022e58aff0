// The config map by which a machine that joins learns whom to trust: anybody can read it, and it is signed with every bootstrap
// token, so that who has one can tell that it is genuine. Upstream: k8s.io/cluster-bootstrap.

export const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const;

/** The server's address and authority, and no user. */
export const clusterInfoKey = 'kubeconfig';

const signaturePrefix = 'jws-kubeconfig-';

export const signatureKey = (tokenId: string): string => `${signaturePrefix}${tokenId}`;

export const isSignatureKey = (key: string): boolean => key.startsWith(signaturePrefix);

/** A signature over a text that travels beside it: header and MAC of a JSON Web Signature. */
export function detachedSignature(
  text: string,
  tokenId: string,
  mac: (signed: string) => string,
): string {
  const header = base64Url(JSON.stringify({ alg: 'HS256', kid: tokenId }));
  return `${header}..${mac(`${header}.${base64Url(text)}`)}`;
}

const base64Url = (text: string): string => Buffer.from(text).toString('base64url');
