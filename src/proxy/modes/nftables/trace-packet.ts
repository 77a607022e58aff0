// Traces a packet through the rules for a state.
import type { Element, NftSet, Statement } from '../../../host/nftables/objects.ts';
import type { ProxyState } from '../../model/state.ts';
import { allChoices, type Outcome } from '../../packets/all-choices.ts';
import type { RuleListener } from '../../packets/met-rule.ts';
import type { Destination, Packet, Verdict } from '../../packets/packet.ts';
import { compareDestinations } from '../../packets/reference-model.ts';
import {
  type Ruleset,
  type SetContents,
  startTrace,
  type TracedPacket,
  traceChain,
} from '../../packets/trace-chain.ts';
import { desiredForNode, desiredForPort } from './desired.ts';
import { baseChains, fixedSets } from './layout.ts';

export function tracePacket(state: ProxyState, met?: RuleListener): (packet: Packet) => Verdict {
  const ruleset = rulesetOf(state);
  return (packet) => {
    if (packet.family !== state.node.family) return { kind: 'pass' };
    return verdictOf(allChoices((draw) => passHooks(startTrace(packet, draw, met), ruleset)));
  };
}

function rulesetOf(state: ProxyState): Ruleset {
  const fragments = [
    desiredForNode(state.node),
    ...[...state.ports.values()].map((port) => desiredForPort(port, state.node)),
  ];
  const elements = new Map<string, Map<string, Element>>(
    fixedSets.map(({ name }) => [name, new Map()]),
  );
  for (const { set, element } of fragments.flatMap((one) => one.entries)) {
    elements.get(set.name)?.set(element.key.join(' '), element);
  }
  const contents = (set: NftSet): SetContents => ({
    set,
    elements: elements.get(set.name) ?? new Map(),
  });
  return {
    chains: new Map<string, readonly (readonly Statement[])[]>(
      fragments.flatMap((one) => one.chains.map(({ chain, rules }) => [chain.name, rules])),
    ),
    sets: new Map(fixedSets.map((set) => [set.name, contents(set)])),
  };
}

/** Where a packet goes after its first hook depends on whether its destination was translated there. */
function passHooks(traveller: TracedPacket, ruleset: Ruleset): Verdict {
  const { origin, isToNode } = traveller.packet;
  const staysHere = (): boolean => isToNode && traveller.translated === undefined;
  const hooks = [
    () => (origin === 'local' ? 'output' : 'prerouting'),
    () => (staysHere() ? 'input' : origin === 'local' ? undefined : 'forward'),
    // Endpoints on this very node are asked as well: their answers say whether the packet asked for a new source.
    () => 'postrouting',
  ];
  for (const hook of hooks) {
    const end = passHook(traveller, hook(), ruleset);
    if (end !== undefined) return { kind: end };
  }
  if (traveller.translated === undefined) return { kind: 'pass' };
  const { translated, isMasqueraded } = traveller;
  return { kind: 'translate', destinations: [{ ...translated, isMasqueraded }] };
}

function passHook(
  traveller: TracedPacket,
  hook: string | undefined,
  ruleset: Ruleset,
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

/** Chances are products of fractions; rounding must not make equal ones differ. */
const roundingError = 1e-9;

function verdictOf(ways: readonly Outcome<Verdict>[]): Verdict {
  const [first] = ways;
  if (first === undefined) throw new Error('Cannot trace a packet: no rule decided');
  if (ways.some(({ result }) => result.kind !== first.result.kind)) {
    throw new Error(`Cannot trace a packet: verdicts differ: ${JSON.stringify(ways)}`);
  }
  if (first.result.kind !== 'translate') return first.result;
  const chances = new Map<string, { destination: Destination; chance: number }>();
  for (const { result, chance } of ways) {
    if (result.kind !== 'translate') continue;
    for (const destination of result.destinations) {
      const key = JSON.stringify(destination);
      const before = chances.get(key)?.chance ?? 0;
      chances.set(key, { destination, chance: before + chance });
    }
  }
  const all = [...chances.values()];
  if (all.some(({ chance }) => Math.abs(chance - 1 / all.length) > roundingError)) {
    throw new Error(`Cannot call these ends equally likely: ${JSON.stringify(all)}`);
  }
  return {
    kind: 'translate',
    destinations: all.map(({ destination }) => destination).sort(compareDestinations),
  };
}
