// The options of exec, attach and portforward, as the path for the node's agent (upstream: pkg/registry/core/pod/strategy.go,
// streamLocation and PortForwardLocation).

import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { QueryOption, QueryOptions } from '../message.ts';
import { logContainer } from './log-options.ts';

export type StreamKind = 'exec' | 'attach';

/** Names in the API's query and in that of the node. */
const switches: readonly (readonly [QueryOption, string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
];

/** The path with query for the node; throws ApiError for invalid options. */
export function streamPath(kind: StreamKind, pod: Pod, query: QueryOptions): string {
  const container = logContainer(pod, query.get('container') ?? '');
  const parameters = new URLSearchParams();
  for (const [name, nodeName] of switches) {
    if (isTrue(query.get(name) ?? '')) parameters.set(nodeName, '1');
  }
  if (kind === 'exec')
    for (const word of query.getAll('command')) parameters.append('command', word);
  return `/${kind}/${podPath(pod)}/${encodeURIComponent(container)}?${parameters}`;
}

export function portForwardPath(pod: Pod, query: QueryOptions): string {
  const parameters = new URLSearchParams();
  // Repeated, or several in one value: clients do both.
  for (const port of query.getAll('ports').flatMap((text) => text.split(','))) {
    if (port === '') continue;
    if (!/^\d+$/.test(port))
      throw badRequest(`strconv.ParseInt: parsing ${goQuote(port)}: invalid syntax`);
    parameters.append('port', port);
  }
  const text = parameters.toString();
  return `/portForward/${podPath(pod)}${text === '' ? '' : `?${text}`}`;
}

/** Throws when no node has the pod. */
export function nodeNameOf({ metadata, spec }: Pod): string {
  if (spec.nodeName) return spec.nodeName;
  throw badRequest(`pod ${metadata.name} does not have a host assigned`);
}

const podPath = ({ metadata: { namespace = '', name = '' } }: Pod): string =>
  `${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;

/** Go's rule for switches in a query: anything but these two, and nothing, is true. */
const isTrue = (value: string): boolean => !['false', '0', ''].includes(value.toLowerCase());
