// A packet's way through the rules and virtual servers that are written for a state.

import type { ProxyState } from '../../model/state.ts';
import { allChoices } from '../../packets/all-choices.ts';
import type { RuleListener } from '../../packets/met-rule.ts';
import type { Packet, Verdict } from '../../packets/packet.ts';
import {
  type Ruleset,
  startTrace,
  type TracedPacket,
  traceChain,
} from '../../packets/trace-chain.ts';
import { choiceChain, nodeChains } from './chains.ts';
import { type Contents, contentsOf } from './contents.ts';
import { desiredForPort } from './desired.ts';
import { allSets, baseChains } from './layout.ts';
import { createRequests } from './requests.ts';

/** Each endpoint is as likely as the others under `rr`. */
const scheduler = 'rr';

export function tracePacket(state: ProxyState, met?: RuleListener): (packet: Packet) => Verdict {
  const requests = createRequests();
  for (const port of state.ports.values()) {
    requests.set(port.key, desiredForPort(port, state.node, scheduler));
  }
  const contents = contentsOf(requests.items());
  const chains = [...nodeChains(state.node), ...[...contents.choices].map(choiceChain)];
  const ruleset: Ruleset = {
    chains: new Map(chains.map(({ chain, rules }) => [chain.name, rules])),
    sets: new Map(
      allSets.map((set) => [
        set.name,
        { set, elements: contents.elements.get(set.name) ?? new Map() },
      ]),
    ),
  };
  return (packet) =>
    packet.family === state.node.family
      ? allWays(packet, { contents, ruleset, ...(met === undefined ? {} : { met }) })
      : { kind: 'pass' };
}

type Kernel = {
  readonly contents: Contents;
  readonly ruleset: Ruleset;
  readonly met?: RuleListener;
};

/** The chains that draw give each outcome the same chance. */
function allWays(packet: Packet, kernel: Kernel): Verdict {
  const ways = allChoices((draw) => passHooks(startTrace(packet, draw, kernel.met), kernel));
  const verdicts = ways.map(({ result }) => result);
  const other = verdicts.find(({ kind }) => kind !== 'translate');
  if (other !== undefined) return other;
  const destinations = verdicts.flatMap((one) =>
    one.kind === 'translate' ? one.destinations : [],
  );
  return { kind: 'translate', destinations };
}

/** IPVS takes what reaches this machine at the end of `input`, and what starts here after destination NAT. */
function passHooks(traveller: TracedPacket, kernel: Kernel): Verdict {
  const { origin } = traveller.packet;
  const start = passHook(traveller, origin === 'local' ? 'output' : 'prerouting', kernel);
  if (start !== undefined) return { kind: start };
  if (traveller.translated !== undefined) return leave(traveller, [traveller.translated], kernel);
  const server = kernel.contents.servers.get(entranceText(traveller.packet));
  if (origin === 'local' && server !== undefined) return schedule(traveller, server, kernel);
  if (!isForThisMachine(traveller.packet, kernel)) return { kind: 'pass' };
  const end = passHook(traveller, 'input', kernel);
  if (end !== undefined) return { kind: end };
  return server === undefined ? { kind: 'pass' } : schedule(traveller, server, kernel);
}

function isForThisMachine({ destination, isToNode }: Packet, { contents }: Kernel): boolean {
  return isToNode || contents.addresses.has(destination);
}

function entranceText({ destination, protocol, destinationPort }: Packet): string {
  return `${destination} ${protocol.toLowerCase()} ${destinationPort}`;
}

type ServerContents =
  Contents['servers'] extends ReadonlyMap<string, infer Server> ? Server : never;

/** A virtual server without real servers refuses (IVS-09). */
function schedule(
  traveller: TracedPacket,
  { service, realServers }: ServerContents,
  kernel: Kernel,
): Verdict {
  reportServer(kernel, service, [...realServers.values()]);
  if (realServers.size === 0) return { kind: 'reject' };
  const endpoints = [...realServers.values()].map(({ address, port }) => ({ ip: address, port }));
  return leave(traveller, endpoints, kernel);
}

/** In the words of `ipvsadm -S -n`. */
function reportServer(
  { met }: Kernel,
  { address, port, protocol, scheduler, persistenceSeconds }: ServerContents['service'],
  servers: readonly { readonly address: string; readonly port: number }[],
): void {
  if (met === undefined) return;
  const flag = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' }[protocol];
  const at = `${flag} ${endpointText(address, port)}`;
  const sticky = persistenceSeconds === undefined ? '' : ` -p ${persistenceSeconds}`;
  met({ kind: 'text', text: `-A ${at} -s ${scheduler}${sticky}` });
  for (const one of servers) {
    met({ kind: 'text', text: `-a ${at} -r ${endpointText(one.address, one.port)} -m -w 1` });
  }
}

function endpointText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function leave(
  traveller: TracedPacket,
  endpoints: readonly { readonly ip: string; readonly port: number }[],
  kernel: Kernel,
): Verdict {
  const destinations = endpoints.map((translated) => {
    const leaving: TracedPacket = { ...traveller, translated };
    passHook(leaving, 'postrouting', kernel);
    return { ...translated, isMasqueraded: leaving.isMasqueraded };
  });
  return { kind: 'translate', destinations };
}

function passHook(
  traveller: TracedPacket,
  hook: string,
  { ruleset }: Kernel,
): 'drop' | 'reject' | undefined {
  const chains = baseChains
    .filter(({ base }) => base?.hook === hook)
    .sort((a, b) => (a.base?.priority ?? 0) - (b.base?.priority ?? 0));
  for (const { name } of chains) {
    const end = traceChain(traveller, name, ruleset);
    if (end === 'drop' || end === 'reject') return end;
  }
  return undefined;
}
