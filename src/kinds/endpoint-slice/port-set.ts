// The port set that the endpoints of a slice share: its order and its identity.
import { createHash } from 'node:crypto';
import type { SlicePort } from './types.ts';

/** Upstream orders ports by the MD5 of Go's spew output; the same text gives the same order. */
export function orderedPorts(ports: readonly SlicePort[]): readonly SlicePort[] {
  if (ports.length < 2) return ports;
  return ports
    .map((port) => ({ port, key: createHash('md5').update(goPort(port)).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ port }) => port);
}

/** Equal for equal port sets, in any order. */
export function portSetKey(ports: readonly SlicePort[] | null): string {
  return (ports ?? []).map(goPort).sort().join();
}

function goPort({ name, protocol, port, appProtocol }: SlicePort): string {
  return `(v1.EndpointPort){Name:(*string)${name ?? '<nil>'} Protocol:(*v1.Protocol)${protocol ?? '<nil>'} Port:(*int32)${port ?? '<nil>'} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`;
}
