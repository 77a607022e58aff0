// A packet's way: the carrier's rules to a relay, and from there to the relay's endpoints.

import type { ProxyState } from '../../model/state.ts';
import type { RuleListener } from '../../packets/met-rule.ts';
import type { Destination, Packet, Verdict } from '../../packets/packet.ts';
import type { Mode } from '../mode.ts';
import { type RelaySpec, redirected, relaysOf } from './desired.ts';

/** Where relays listen in what is computed; ports count from here. */
const firstPort = 40_000;

export function tracePacketUserspace(
  carrier: Pick<Mode, 'tracePacket'>,
  state: ProxyState,
  met?: RuleListener,
): (packet: Packet) => Verdict {
  const ip = state.node.nodeIPs[0];
  const relays = new Map<number, RelaySpec>();
  const numbers = new Map<string, number>();
  for (const port of state.ports.values()) {
    for (const relay of relaysOf(port)) {
      const number = firstPort + relays.size;
      relays.set(number, relay);
      numbers.set(relay.id, number);
    }
  }
  const addressOf = (id: string) => {
    const port = numbers.get(id);
    return ip === undefined || port === undefined ? undefined : { ip, port };
  };
  const ports = new Map(
    [...state.ports].map(([key, port]) => [key, redirected(port, addressOf)] as const),
  );
  const tracePacket = carrier.tracePacket({ ...state, ports }, met);
  return (packet) => {
    const verdict = tracePacket(packet);
    if (verdict.kind !== 'translate') return verdict;
    const destinations = verdict.destinations.flatMap((destination) => {
      const relay = destination.ip === ip ? relays.get(destination.port) : undefined;
      if (relay === undefined) return [destination];
      met?.({ kind: 'text', text: relayText(relay) });
      return relayed(relay);
    });
    return { kind: 'translate', destinations };
  };
}

/** The endpoint sees the relay as the one who calls (USR-05). */
function relayed(relay: RelaySpec): readonly Destination[] {
  return relay.endpoints.map(({ ip, port }) => ({ ip, port, isMasqueraded: true }));
}

function relayText({ id, endpoints }: RelaySpec): string {
  const to = endpoints.map(({ ip, port }) =>
    ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`,
  );
  return `relay ${id} to ${to.join(', ')}`;
}
