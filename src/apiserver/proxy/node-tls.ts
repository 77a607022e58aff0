// How a connection to the agent of a node proves who is at either end.
import type { ConnectionOptions } from 'node:tls';
import type { NodeCredentials } from '../certificates/node-credentials.ts';

/** `host` is the address that the node says it has: a certificate for another is not its own. */
export function nodeTls(
  { certificate, privateKey, trusted }: NodeCredentials,
  host: string,
): ConnectionOptions {
  const own = { cert: certificate, key: privateKey, host };
  // Agents that nobody gave a certificate sign their own, as kubelets do.
  return trusted === undefined
    ? { ...own, rejectUnauthorized: false }
    : { ...own, ca: trusted, rejectUnauthorized: true };
}
