// Joins a cluster: discovers its authority, requests a client certificate, and only then writes files.
import { X509Certificate } from 'node:crypto';
import { openFailoverTransport } from '../client/open-failover-transport.ts';
import type { Connection } from '../client/read-kubeconfig.ts';
import { readConnection } from '../client/read-kubeconfig.ts';
import { FailedError, UsageError } from '../flags/command.ts';
import { nodeClientSigner } from '../kinds/certificate-signing-request/types.ts';
import { isApiError } from '../meta/api-error.ts';
import { discoverAuthority, publicKeyPin } from './discover-authority.ts';
import { hasJoined, type Identity, kubeconfigPath, writeIdentity } from './identity-files.ts';
import type { JoinRequest } from './join-flags.ts';
import { CertificateRefusedError, requestCertificate } from './request-certificate.ts';

export type JoinOptions = {
  readonly directory: string;
  readonly nodeName: string;
  readonly now: number;
  readonly print: (text: string) => void;
  /** Absent: the machine must have joined before. */
  readonly request?: JoinRequest;
};

/** The connection of a machine that has joined before, or joins now. */
export async function ensureJoined(options: JoinOptions, signal: AbortSignal): Promise<Connection> {
  const { directory, request } = options;
  if (hasJoined(directory)) {
    const joined = await readConnection([kubeconfigPath(directory)]);
    const problem = problemOf(joined, options);
    if (problem === undefined) return joined;
    if (request === undefined || problem.isFinal) throw new UsageError(problem.text);
  }
  if (request === undefined)
    throw new UsageError(`Cannot find "${kubeconfigPath(directory)}": join first.`);
  await writeIdentity(directory, await obtainIdentity(request, options, signal));
  return await readConnection([kubeconfigPath(directory)]);
}

type Problem = { readonly text: string; readonly isFinal: boolean };

/** Why the identity on disk cannot be used. An expired one can be replaced with a token; other problems are final. */
function problemOf(
  { clientCertificate = '', certificateAuthority = '' }: Connection,
  { directory, nodeName, now, request }: JoinOptions,
): Problem | undefined {
  const certificate = new X509Certificate(clientCertificate);
  const certifiedNode = /^CN=system:node:(.*)/m.exec(certificate.subject)?.[1] ?? '';
  if (certifiedNode !== nodeName) {
    const text = `Cannot use "${directory}": it belongs to the node "${certifiedNode}", not "${nodeName}". Name that with --node-name, or another --data-dir.`;
    return { text, isFinal: true };
  }
  if (
    request !== undefined &&
    request.pins.length > 0 &&
    !request.pins.includes(publicKeyPin(certificateAuthority))
  ) {
    const text = `Cannot join with "${directory}": it belongs to a cluster with another authority (sha256:${publicKeyPin(certificateAuthority)}). Remove its kubeconfig to leave that one.`;
    return { text, isFinal: true };
  }
  if (Date.parse(certificate.validTo) > now) return undefined;
  const text = `Cannot use "${directory}": its certificate expired on ${certificate.validTo}. Join again with --join and a new token.`;
  return { text, isFinal: false };
}

async function obtainIdentity(
  request: JoinRequest,
  { nodeName, print }: JoinOptions,
  signal: AbortSignal,
): Promise<Identity> {
  const { servers } = request;
  const token = typeof request.token === 'string' ? request.token : await request.token();
  const [server, ...otherServers] = servers;
  const authority = await discoverAuthority({ ...request, token }, signal);
  const transport = openFailoverTransport({
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
          print(`Waiting for approval of ${name} (kubectl certificate approve ${name}).\n`),
      },
      signal,
    );
    return { servers, authority, client };
  } catch (error) {
    throw joinError(error, server, signal);
  } finally {
    await transport.close();
  }
}

function joinError(error: unknown, server: string, signal: AbortSignal): unknown {
  if (signal.aborted) return new FailedError(`Interrupted before ${server} was joined.`);
  const text = reasonOf(error);
  return new FailedError(`Cannot join ${server}: ${text}`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (isApiError(error) && error.status.code === 401) {
    return 'the server rejected the token: it is unknown, has expired, or is not for authentication. Create another with `fairlead token create`.';
  }
  if (isApiError(error) && error.status.code === 403) {
    return `the token is not allowed to request node certificates (${error.message}).`;
  }
  const { message } = error as Error;
  return isApiError(error) || error instanceof CertificateRefusedError
    ? message
    : `the connection failed (${message}).`;
}
