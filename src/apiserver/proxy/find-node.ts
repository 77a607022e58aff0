// The address of a node's agent, from the node's status (upstream: pkg/kubelet/client, GetConnectionInfo).

import type { Node } from '../../kinds/node/types.ts';
import { badRequest, notFound } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { NodeCredentials } from '../certificates/node-credentials.ts';
import type { Target } from './find-target.ts';
import { parseTargetName } from './target-name.ts';

export type NodeTarget = { readonly node: string; readonly host: string; readonly port: number };

/** kube-apiserver's --kubelet-preferred-address-types, without what only names that may not resolve give. */
const preferred = ['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'];
const defaultPort = 10250;

export function findNode(reader: ObjectReader, name: string): NodeTarget {
  const node = reader.get('nodes', '', name) as Node | undefined;
  if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, name);
  const addresses = node.status.addresses ?? [];
  const host = preferred.flatMap((type) => addresses.filter((one) => one.type === type))[0]
    ?.address;
  // Upstream answers 500; the node has not reported an address yet.
  if (host === undefined) throw badRequest('no preferred addresses found; known addresses: []');
  return {
    node: name,
    host,
    port: node.status.daemonEndpoints?.kubeletEndpoint?.Port || defaultPort,
  };
}

export type FindNodeTarget = {
  readonly reader: ObjectReader;
  /** As in the path: `[scheme:]name[:port]`. */
  readonly id: string;
  readonly credentials: () => NodeCredentials;
};

/** The agent, with this server's credentials; or another port of the node, without them (upstream: pkg/registry/core/node/strategy.go). */
export function findNodeTarget({ reader, id, credentials }: FindNodeTarget): Target {
  const named = parseTargetName(id);
  if (named === undefined) throw badRequest(`invalid node request ${goQuote(id)}`);
  const { node, host, port } = findNode(reader, named.name);
  if (named.port === '' || Number(named.port) === port)
    return { scheme: 'https', host, port, agent: { node, credentials: credentials() } };
  const other = Number(named.port);
  if (!/^\d+$/.test(named.port) || other < 1 || other > 65_535)
    throw badRequest(`invalid port ${goQuote(named.port)}`);
  return { scheme: named.scheme, host, port: other };
}
