// Parses a line of `conntrack -L`: `udp 17 29 src=10.0.0.1 dst=10.96.0.10 sport=4000 dport=53 src=10.244.1.2 …`.
import { formatAddress, parseAddress } from '../../ip/address.ts';
import type { TrackedFlow } from './stale-flows.ts';

/** The first of each pair is the original direction, the second the reply. */
export function parseConntrackLine(line: string): TrackedFlow | undefined {
  const words = line.split(/\s+/);
  const values = (name: string): readonly string[] =>
    words.flatMap((word) => (word.startsWith(`${name}=`) ? [word.slice(name.length + 1)] : []));
  const destination = canonical(values('dst')[0]);
  const source = canonical(values('src')[1]);
  const destinationPort = Number(values('dport')[0]);
  const sourcePort = Number(values('sport')[1]);
  if (destination === undefined || source === undefined) return undefined;
  if (!Number.isInteger(destinationPort) || !Number.isInteger(sourcePort)) return undefined;
  return { original: { destination, destinationPort }, reply: { source, sourcePort } };
}

function canonical(text: string | undefined): string | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
}
