// A connection to a loopback address: it stays in the network of its source, where no rules are.
import { isLoopback, parseAddress } from '../ip/address.ts';
import { findListeningContainer } from '../kinds/pod/ports.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { endHop } from './end-hop.ts';
import type { Destination } from './judge-connection.ts';
import type { Source } from './resolve-source.ts';
import type { Path } from './trace.ts';

/** The loopback of a node is not meant: its node ports may answer there. */
export function isOwnLoopback(
  { address }: Destination,
  { kind, isOnHost }: Pick<Source, 'kind' | 'isOnHost'>,
): boolean {
  const parsed = parseAddress(address);
  // The unspecified address means the host itself.
  const isOwn = parsed !== undefined && (isLoopback(parsed) || parsed.value === 0n);
  return isOwn && kind !== 'node' && !isOnHost;
}

export function loopbackPath(
  index: SnapshotIndex,
  destination: Destination,
  { kind, namespace = '', name }: Source,
): Path {
  const { address, port, protocol } = destination;
  const own = kind === 'pod' ? 'pod' : 'client';
  const sentence = `${address} is the ${own} itself`;
  const pod = kind === 'pod' && name !== undefined ? index.pod(namespace, name) : undefined;
  const isListening = pod !== undefined && findListeningContainer(pod, port, protocol);
  return {
    ...destination,
    nodes: [],
    entrance: { kind: own === 'pod' ? 'pod' : 'outside', why: 'no-service', sentence },
    ends: isListening ? [endHop(index, { ...destination, pod: `${namespace}/${name}` })] : [],
    outcome: isListening
      ? { kind: 'answered', sentence: `Answered by the pod itself, at port ${port}` }
      : {
          ...{ kind: 'not-for-a-service', otherwise: 'refused' },
          sentence: `Not for a Service: ${sentence}; refused, unless a program of the ${own} listens there`,
        },
  };
}
