// A request to the agent of a node, with the certificate that authenticates this server.
import { type IncomingMessage, request as openRequest } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { internal } from '../../meta/api-error.ts';
import type { NodeCredentials } from '../certificates/node-credentials.ts';
import type { NodeTarget } from './find-node.ts';
import type { Dial } from './forward.ts';
import { nodeTls } from './node-tls.ts';

export type NodeRequest = {
  readonly target: NodeTarget;
  /** Path with query. */
  readonly path: string;
  readonly dial: Dial;
  readonly credentials: NodeCredentials;
  readonly signal: AbortSignal;
};

export async function requestNode({
  target,
  path,
  dial,
  credentials,
  signal,
}: NodeRequest): Promise<IncomingMessage> {
  const { host, port } = target;
  const socket = await dial(host, port);
  return await new Promise((resolve, reject) => {
    const outgoing = openRequest({
      host,
      port,
      path,
      signal,
      createConnection: () => connectTls({ socket, ...nodeTls(credentials, target) }),
    });
    outgoing.once('response', resolve);
    outgoing.once('error', (error) =>
      reject(internal(`Get "https://${hostText(target)}${path}": ${error.message}`)),
    );
    outgoing.end();
  });
}

const hostText = ({ host, port }: NodeTarget): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;
