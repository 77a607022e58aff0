// Mutual TLS with the agent of a node.

import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import { checkServerIdentity } from 'node:tls';
import { goQuote } from '../../schema/go-quote.ts';
import { nodesGroup, nodeUser } from '../access/known-users.ts';
import type { NodeCredentials } from '../certificates/node-credentials.ts';
import type { NodeTarget } from './find-node.ts';

export function nodeTls(
  { certificate, privateKey, trust }: NodeCredentials,
  { node, host }: Pick<NodeTarget, 'node' | 'host'>,
): ConnectionOptions {
  const own = { cert: certificate, key: privateKey, host };
  if (trust.kind === 'anybody') return { ...own, rejectUnauthorized: false };
  return {
    ...own,
    ca: trust.authority,
    rejectUnauthorized: true,
    checkServerIdentity(_name, served) {
      if (isForNode(served, node)) return undefined;
      if (trust.kind === 'address') return checkServerIdentity(host, served);
      return new Error(`the certificate is not the one of node ${goQuote(node)}`);
    },
  };
}

/**
 * The subject that the signer of kubelet-serving insists on. An address in a certificate proves less: nodes choose theirs, and the
 * certificate of an API server has addresses, too.
 */
function isForNode({ subject }: PeerCertificate, node: string): boolean {
  return [subject.CN].flat().join() === nodeUser(node) && [subject.O].flat().join() === nodesGroup;
}
