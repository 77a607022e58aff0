// A packet's way through the rules, as the kernel would carry it: every way that chance could take, with its likelihood.
import { parseAddress } from '../../../ip/address.ts';
import { containsAddress, parseCidr } from '../../../ip/cidr.ts';
import type { ProxyState } from '../../model/state.ts';
import type { RuleListener } from '../../packets/met-rule.ts';
import type { Destination, Packet, Verdict } from '../../packets/packet.ts';
import { compareDestinations } from '../../packets/reference-model.ts';
import { desiredRules } from './desired.ts';
import { defaultSettings, type Settings } from './layout.ts';
import { renderRule } from './render-rule.ts';
import type { ConnectionState, InterfaceMatch, RangeMatch, Rule, Table } from './rules.ts';

/** One way through the rules and how likely it is. */
export type Branch = {
  readonly likelihood: number;
  readonly outcome: 'pass' | 'drop' | 'reject';
  /** Where it goes now, if it was sent elsewhere. */
  readonly translated?: { readonly ip: string; readonly port: number };
  readonly isMasqueraded: boolean;
};

export function tracePacket(state: ProxyState, met?: RuleListener): (packet: Packet) => Verdict {
  const walkPacket = traceBranches(state, defaultSettings, met);
  return (packet) => verdictOf(walkPacket(packet));
}

export function verdictOf(ways: readonly Branch[]): Verdict {
  const destinations = new Map<string, Destination>();
  for (const { outcome, translated, isMasqueraded } of ways) {
    if (outcome !== 'pass') return { kind: outcome };
    if (translated === undefined) return { kind: 'pass' };
    destinations.set(`${translated.ip} ${translated.port}`, { ...translated, isMasqueraded });
  }
  return { kind: 'translate', destinations: [...destinations.values()].sort(compareDestinations) };
}

/** A packet on its way. */
type TracedPacket = {
  readonly packet: Packet;
  readonly destination: string;
  readonly port: number;
  readonly isTranslated: boolean;
  readonly isMasqueraded: boolean;
  readonly mark: number;
  readonly likelihood: number;
  /** What a rule decided in the chain it is in, and in those that led there. */
  readonly decision?: 'accept' | 'drop' | 'reject' | 'return';
};

export function traceBranches(
  state: ProxyState,
  settings: Settings,
  met?: RuleListener,
): (packet: Packet) => readonly Branch[] {
  const rules = collectRules(state, settings);
  const { family } = state.node;
  const report = (position: TracePosition, rule: Rule): void =>
    met?.({
      kind: 'text',
      text: `-t ${position.table} -A ${position.chain} ${renderRule(rule, family)}`,
    });
  return (packet) => {
    if (packet.family !== state.node.family) {
      return [{ likelihood: 1, outcome: 'pass', isMasqueraded: false }];
    }
    let ways: readonly TracedPacket[] = [
      {
        packet,
        destination: packet.destination,
        port: packet.destinationPort,
        isTranslated: false,
        isMasqueraded: false,
        mark: 0,
        likelihood: 1,
      },
    ];
    for (const [table, chain] of hooksOf(packet)) {
      ways = ways.flatMap((way) =>
        isOver(way) ? [way] : throughChain({ rules, report, table }, chain, withoutDecision(way)),
      );
    }
    return ways.map(toWay);
  };
}

/** Every hook it may pass: whether it is delivered here or goes on is not ours to know after translation. */
function hooksOf({ origin, isToNode }: Packet): readonly (readonly [Table, string])[] {
  return [
    ['nat', origin === 'local' ? 'OUTPUT' : 'PREROUTING'],
    ...(origin === 'local' ? ([['filter', 'OUTPUT']] as const) : []),
    ...(isToNode ? ([['filter', 'INPUT']] as const) : []),
    ...(origin === 'forwarded' && !isToNode ? ([['filter', 'FORWARD']] as const) : []),
    ['nat', 'POSTROUTING'],
  ];
}

type RuleMap = ReadonlyMap<string, readonly Rule[]>;
type TracePosition = { readonly table: Table; readonly chain: string };

function collectRules(state: ProxyState, settings: Settings): RuleMap {
  const { chains, foreign } = desiredRules(state, settings);
  const rules = new Map<string, readonly Rule[]>();
  for (const chain of chains) rules.set(`${chain.table} ${chain.name}`, chain.rules);
  const all = [...foreign.jumps, ...foreign.sharedJumps, ...foreign.shared];
  for (const { table, chain, rule } of all) {
    const key = `${table} ${chain}`;
    rules.set(key, [...(rules.get(key) ?? []), rule]);
  }
  return rules;
}

function throughChain(around: Surroundings, chain: string, start: TracedPacket): TracedPacket[] {
  const { rules, table } = around;
  const ended: TracedPacket[] = [];
  let going: readonly TracedPacket[] = [start];
  for (const rule of rules.get(`${table} ${chain}`) ?? []) {
    const after = going.flatMap((way) => throughRule(rule, way, { ...around, chain }));
    going = after.filter(({ decision }) => decision === undefined);
    ended.push(...after.filter(({ decision }) => decision !== undefined));
  }
  return [...going, ...ended.map(leaveChain)];
}

type Surroundings = {
  readonly rules: RuleMap;
  readonly report: (position: TracePosition, rule: Rule) => void;
  readonly table: Table;
};
type ChainSurroundings = Surroundings & { readonly chain: string };

/** Past it, into it, or by chance both. */
function throughRule(
  rule: Rule,
  way: TracedPacket,
  around: ChainSurroundings,
): readonly TracedPacket[] {
  if (!matches(rule, way)) return [way];
  around.report(around, rule);
  const chance = rule.probability ?? 1;
  const taken = carryOut(rule, { ...way, likelihood: way.likelihood * chance }, around);
  return chance < 1 ? [{ ...way, likelihood: way.likelihood * (1 - chance) }, ...taken] : taken;
}

/** A return ends the chain it is in and no other. */
function leaveChain(way: TracedPacket): TracedPacket {
  return way.decision === 'return' ? withoutDecision(way) : way;
}

function withoutDecision({ decision: _, ...way }: TracedPacket): TracedPacket {
  return way;
}

function carryOut(
  { target }: Rule,
  way: TracedPacket,
  around: Surroundings,
): readonly TracedPacket[] {
  switch (target.kind) {
    case 'jump':
      return throughChain(around, target.chain, way);
    case 'translate':
      return [
        {
          ...way,
          destination: target.ip,
          port: target.port,
          isTranslated: true,
          decision: 'accept',
        },
      ];
    case 'mark': {
      const mark = target.action === 'set' ? way.mark | target.bit : way.mark ^ target.bit;
      return [{ ...way, mark }];
    }
    case 'masquerade':
      return [{ ...way, isMasqueraded: true, decision: 'accept' }];
    case 'count':
      return [way];
    default:
      return [{ ...way, decision: target.kind }];
  }
}

function isOver({ decision }: TracedPacket): boolean {
  return decision === 'drop' || decision === 'reject';
}

function toWay(way: TracedPacket): Branch {
  const { likelihood, decision, isTranslated, destination, port, isMasqueraded } = way;
  const outcome = decision === 'drop' || decision === 'reject' ? decision : 'pass';
  return {
    likelihood,
    outcome,
    ...(isTranslated ? { translated: { ip: destination, port } } : {}),
    isMasqueraded,
  };
}

function matches(rule: Rule, way: TracedPacket): boolean {
  const { packet } = way;
  const ports = rule.destinationPorts;
  return (
    // What is quickly told comes first: a large node has many rules.
    (rule.protocol === undefined || rule.protocol === packet.protocol) &&
    (ports === undefined || (way.port >= ports.first && way.port <= ports.last)) &&
    inRange(rule.source, packet.source) &&
    inRange(rule.destination, way.destination) &&
    onInterface(rule.inputInterface, packet.inputInterface) &&
    (rule.connection === undefined ||
      (rule.connection.states.some((state) => isInState(state, way)) !== !!rule.connection.isNot &&
        inRange(rule.connection.original, packet.destination))) &&
    (rule.local === undefined || isLocal(rule.local, way)) &&
    (rule.mark === undefined || ((way.mark & rule.mark.bit) !== 0) !== !!rule.mark.isNot) &&
    (!rule.hasSameEnds || isSameAddress(packet.source, way.destination)) &&
    // The first packet of a client: it is on no list yet, and being put on one is no condition.
    (rule.recent === undefined || rule.recent.kind === 'set')
  );
}

function inRange(match: RangeMatch | undefined, ip: string): boolean {
  return match === undefined || isInRange(match.range, ip) !== !!match.isNot;
}

function isInRange(range: string, ip: string): boolean {
  const address = parseAddress(ip);
  const cidr = parseCidr(range);
  if (address === undefined) return false;
  if (cidr !== undefined) return containsAddress(cidr, address);
  const [value, mask] = range.split('/').map((text) => parseAddress(text)?.value ?? 0n);
  return (address.value & (mask ?? 0n)) === value;
}

function isSameAddress(a: string, b: string): boolean {
  return parseAddress(a)?.value === parseAddress(b)?.value;
}

function onInterface(match: InterfaceMatch | undefined, name = ''): boolean {
  if (match === undefined) return true;
  const { pattern } = match;
  const isOn = pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return isOn !== !!match.isNot;
}

function isInState(state: ConnectionState, { isTranslated }: TracedPacket): boolean {
  return state === 'NEW' || (state === 'DNAT' && isTranslated);
}

function isLocal(end: 'source' | 'destination', { packet, isTranslated }: TracedPacket): boolean {
  if (end === 'source') return packet.isFromNode;
  // Rules ask this before translation, or of what was not translated.
  return packet.isToNode && !isTranslated;
}
