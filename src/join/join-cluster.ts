// Joining: find the authority, ask for a certificate, and only then write anything down.
import { X509Certificate } from 'node:crypto';
import { openTransport } from '../client/open-transport.ts';
import type { Connection } from '../client/read-kubeconfig.ts';
import { readConnection } from '../client/read-kubeconfig.ts';
import { FailedError, UsageError } from '../flags/command.ts';
import { nodeClientSigner } from '../kinds/certificate-signing-request/types.ts';
import { isApiError } from '../meta/api-error.ts';
import { discoverAuthority, pinOf } from './cluster-authority.ts';
import { hasJoined, type Identity, kubeconfigPath, writeIdentity } from './identity-files.ts';
import type { JoinRequest } from './join-flags.ts';
import { CertificateRefused, requestCertificate } from './request-certificate.ts';

export type JoinOptions = {
  readonly directory: string;
  readonly nodeName: string;
  readonly now: number;
  readonly say: (text: string) => void;
  /** Absent: what was joined before is used. */
  readonly wish?: JoinRequest;
};

/** The connection of a member: joined now, or before. */
export async function ensureJoined(options: JoinOptions, signal: AbortSignal): Promise<Connection> {
  const { directory, wish } = options;
  if (hasJoined(directory)) {
    const before = await readConnection([kubeconfigPath(directory)]);
    const problem = problemOf(before, options);
    if (problem === undefined) return before;
    if (wish === undefined || problem.isFinal) throw new UsageError(problem.text);
  }
  if (wish === undefined)
    throw new UsageError(`Cannot find "${kubeconfigPath(directory)}": join first.`);
  await writeIdentity(directory, await obtainIdentity(wish, options, signal));
  return await readConnection([kubeconfigPath(directory)]);
}

type Problem = { readonly text: string; readonly isFinal: boolean };

/** What keeps an identity of before from being used; one that has run out can be had anew with a token. */
function problemOf(
  { clientCertificate = '', certificateAuthority = '' }: Connection,
  { directory, nodeName, now, wish }: JoinOptions,
): Problem | undefined {
  const certificate = new X509Certificate(clientCertificate);
  const owner = /^CN=system:node:(.*)/m.exec(certificate.subject)?.[1] ?? '';
  if (owner !== nodeName) {
    const text = `Cannot use "${directory}": it belongs to the node "${owner}", not "${nodeName}". Name that with --node-name, or another --data-dir.`;
    return { text, isFinal: true };
  }
  if (
    wish !== undefined &&
    wish.pins.length > 0 &&
    !wish.pins.includes(pinOf(certificateAuthority))
  ) {
    const text = `Cannot join with "${directory}": it belongs to a cluster with another authority (sha256:${pinOf(certificateAuthority)}). Remove its kubeconfig to leave that one.`;
    return { text, isFinal: true };
  }
  if (Date.parse(certificate.validTo) > now) return undefined;
  const text = `Cannot use "${directory}": its certificate ended on ${certificate.validTo}. Join again with --join and a new token.`;
  return { text, isFinal: false };
}

async function obtainIdentity(
  wish: JoinRequest,
  { nodeName, say }: JoinOptions,
  signal: AbortSignal,
): Promise<Identity> {
  const { servers } = wish;
  const token = typeof wish.token === 'string' ? wish.token : await wish.token();
  const [server, ...otherServers] = servers;
  const authority = await discoverAuthority({ ...wish, token }, signal);
  const transport = openTransport({
    ...{ server, otherServers, token, namespace: 'default', certificateAuthority: authority },
    skipTlsVerification: false,
  });
  try {
    const client = await requestCertificate(
      {
        caller: { transport, userAgent: 'fairlead-join' },
        nodeName,
        signer: nodeClientSigner,
        use: 'client auth',
        onWait: (name) =>
          say(`Waiting until somebody approves ${name} (kubectl certificate approve ${name}).\n`),
      },
      signal,
    );
    return { servers, authority, client };
  } catch (error) {
    throw explained(error, server, signal);
  } finally {
    await transport.close();
  }
}

function explained(error: unknown, server: string, signal: AbortSignal): unknown {
  if (signal.aborted) return new FailedError(`Stopped before ${server} was joined.`);
  const text = reasonOf(error);
  return new FailedError(`Cannot join ${server}: ${text}`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (isApiError(error) && error.status.code === 401) {
    return 'the token is not good there: it is unknown, has expired, or is not for authentication. Make another with `fairlead token create`.';
  }
  if (isApiError(error) && error.status.code === 403) {
    return `the token may not ask for certificates of nodes (${error.message}).`;
  }
  const { message } = error as Error;
  return isApiError(error) || error instanceof CertificateRefused
    ? message
    : `the connection failed (${message}).`;
}
