// The set of ports that the endpoints of a slice share: how it is ordered, and when two are the same.
import { createHash } from 'node:crypto';
import type { SlicePort } from './types.ts';

/** Upstream orders ports by the MD5 of how Go's spew prints them; the same text gives the same order. */
export function orderedPorts(ports: readonly SlicePort[]): readonly SlicePort[] {
  if (ports.length < 2) return ports;
  return ports
    .map((port) => ({ port, key: createHash('md5').update(goPort(port)).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ port }) => port);
}

/** The same text for the same ports, in whatever order they stand. */
export function portSetKey(ports: readonly SlicePort[] | null): string {
  return (ports ?? []).map(goPort).sort().join();
}

function goPort({ name, protocol, port, appProtocol }: SlicePort): string {
  return `(v1.EndpointPort){Name:(*string)${name ?? '<nil>'} Protocol:(*v1.Protocol)${protocol ?? '<nil>'} Port:(*int32)${port ?? '<nil>'} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`;
}
