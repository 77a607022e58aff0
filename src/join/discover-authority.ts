// Discovers the certificate authority of a cluster before anything is trusted: by the hash of its public key, and by the
// signature of the cluster information with the bootstrap token. Upstream: cmd/kubeadm/app/discovery/token.
import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto';
import { callApi } from '../client/api-call.ts';
import { parseKubeconfig } from '../client/kubeconfig.ts';
import { openFailoverTransport } from '../client/open-failover-transport.ts';
import { FailedError } from '../flags/command.ts';
import {
  clusterInfo,
  clusterInfoKey,
  detachedSignature,
  signatureKey,
} from '../kinds/config-map/cluster-info.ts';
import { splitToken } from '../kinds/secret/bootstrap-token.ts';
import { isApiError } from '../meta/api-error.ts';
import type { JoinRequest } from './join-flags.ts';

export type Discovery = JoinRequest & { readonly token: string };

/** Hex SHA-256 of the public key of a certificate, as kubeadm prints it. */
export function publicKeyPin(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** PEM of the authority. No secret is sent, because the server is not authenticated yet. */
export async function discoverAuthority(request: Discovery, signal: AbortSignal): Promise<string> {
  const data = await readClusterInfo(request, signal);
  const verified = verifyClusterInfo(data, request);
  if ('authority' in verified) return verified.authority;
  throw new FailedError(`Cannot join ${request.servers.join(', ')}: ${verified.problem}.`);
}

async function readClusterInfo(
  { servers: [server, ...otherServers] }: JoinRequest,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const transport = openFailoverTransport({
    server,
    otherServers,
    namespace: 'default',
    skipTlsVerification: true,
  });
  const { namespace, name } = clusterInfo;
  try {
    const found = await callApi(
      { transport, userAgent: 'fairlead-join' },
      { method: 'GET', path: `/api/v1/namespaces/${namespace}/configmaps/${name}`, signal },
    );
    return (found as { readonly data?: Readonly<Record<string, string>> }).data ?? {};
  } catch (error) {
    if (!isApiError(error)) {
      const { message } = error as Error;
      throw new FailedError(`Cannot join ${server}: connection failed (${message}).`, {
        cause: error,
      });
    }
    const why = `reading the ConfigMap ${namespace}/${name} failed (${error.message})`;
    throw new FailedError(`Cannot join ${server}: ${why}.`, { cause: error });
  } finally {
    await transport.close();
  }
}

type Verified = { readonly authority: string } | { readonly problem: string };

function verifyClusterInfo(
  data: Readonly<Record<string, string>>,
  { token, pins }: Pick<Discovery, 'token' | 'pins'>,
): Verified {
  const text = data[clusterInfoKey] ?? '';
  const { id = '', secret = '' } = splitToken(token) ?? {};
  const signature = data[signatureKey(id)];
  if (signature !== undefined && !isEqual(signature, sign(text, id, secret))) {
    return {
      problem:
        'its cluster information is not signed with this token: the secret half is wrong, or another server responds',
    };
  }
  if (signature === undefined && pins.length === 0) {
    return {
      problem:
        'its cluster information is not signed with this token: the token is unknown, has expired, or is not for signing',
    };
  }
  const found = authoritiesIn(text);
  if (found.length === 0)
    return { problem: 'its cluster information contains no certificate authority' };
  if (pins.length === 0) return { authority: found.join('') };
  // Of several, only those that are pinned: others may have been added on the network.
  const pinned = found.filter((one) => pins.includes(publicKeyPin(one)));
  if (pinned.length > 0) return { authority: pinned.join('') };
  const actual = found.map((one) => `sha256:${publicKeyPin(one)}`).join(', ');
  return {
    problem: `its certificate authority does not match --discovery-token-ca-cert-hash, it has ${actual}`,
  };
}

const sign = (text: string, id: string, secret: string): string =>
  detachedSignature(text, id, (signed) =>
    createHmac('sha256', secret).update(signed).digest('base64url'),
  );

function isEqual(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

const certificateForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** Empty if the kubeconfig or a certificate is malformed: they come from a server that is not trusted yet. */
function authoritiesIn(kubeconfig: string): readonly string[] {
  try {
    const [cluster] = parseKubeconfig(kubeconfig).clusters.values();
    const encoded = cluster?.['certificate-authority-data'];
    const text = typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
    const all = text.match(certificateForm) ?? [];
    for (const one of all) new X509Certificate(one);
    return all;
  } catch {
    return [];
  }
}
