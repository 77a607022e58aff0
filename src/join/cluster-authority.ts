// Which authority a cluster has, found out without trusting anybody yet: by the hash of its key, and by the signature that the
// token makes. Upstream: cmd/kubeadm/app/discovery/token.
import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto';
import { callApi } from '../client/api-call.ts';
import { parseKubeconfig } from '../client/kubeconfig.ts';
import { openTransport } from '../client/open-transport.ts';
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
export function pinOf(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** PEM of the authority. Nothing secret is sent: who answers is not known yet. */
export async function discoverAuthority(wish: Discovery, signal: AbortSignal): Promise<string> {
  const data = await readClusterInfo(wish, signal);
  const judged = judgeClusterInfo(data, wish);
  if ('authority' in judged) return judged.authority;
  throw new FailedError(`Cannot join ${wish.servers.join(', ')}: ${judged.problem}.`);
}

async function readClusterInfo(
  { servers: [server, ...otherServers] }: JoinRequest,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const transport = openTransport({
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
      throw new FailedError(`Cannot join ${server}: it cannot be reached (${message}).`, {
        cause: error,
      });
    }
    const why = `it does not show the config map ${namespace}/${name} (${error.message})`;
    throw new FailedError(`Cannot join ${server}: ${why}.`, { cause: error });
  } finally {
    await transport.close();
  }
}

type Judged = { readonly authority: string } | { readonly problem: string };

function judgeClusterInfo(
  data: Readonly<Record<string, string>>,
  { token, pins }: Pick<Discovery, 'token' | 'pins'>,
): Judged {
  const text = data[clusterInfoKey] ?? '';
  const { id = '', secret = '' } = splitToken(token) ?? {};
  const signature = data[signatureKey(id)];
  if (signature !== undefined && !isSame(signature, sign(text, id, secret))) {
    return {
      problem:
        'its cluster information is not signed with this token: the secret half is wrong, or somebody else answers',
    };
  }
  if (signature === undefined && pins.length === 0) {
    return {
      problem:
        'its cluster information is not signed with this token: the token is unknown, has expired, or is not for signing',
    };
  }
  const found = authoritiesIn(text);
  if (found.length === 0) return { problem: 'its cluster information names no authority' };
  if (pins.length === 0) return { authority: found.join('') };
  // Of several only those that were pinned: others may have been put in on the way.
  const pinned = found.filter((one) => pins.includes(pinOf(one)));
  if (pinned.length > 0) return { authority: pinned.join('') };
  const have = found.map((one) => `sha256:${pinOf(one)}`).join(', ');
  return { problem: `its authority is not the one of --discovery-token-ca-cert-hash, but ${have}` };
}

const sign = (text: string, id: string, secret: string): string =>
  detachedSignature(text, id, (signed) =>
    createHmac('sha256', secret).update(signed).digest('base64url'),
  );

function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

const certificateForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** What cannot be read is as good as not there. */
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
