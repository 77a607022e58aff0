// What the kernel does with a packet in one chain of this mode, statement by statement.
import type { Element, Field, Scalar, Statement, Verdict } from '../../../host/nftables/objects.ts';
import { addressBits, parseAddress } from '../../../ip/address.ts';
import { containsAddress, parseCidr } from '../../../ip/cidr.ts';
import type { Packet } from '../../packet.ts';
import { allSets } from './layout.ts';

export type Ruleset = {
  readonly chains: ReadonlyMap<string, readonly (readonly Statement[])[]>;
  /** By set, then by key. */
  readonly elements: ReadonlyMap<string, ReadonlyMap<string, Element>>;
};

/** A packet on its way; changes as rules change it. */
export type Traveller = {
  readonly packet: Packet;
  /** Which of its outcomes a draw has. */
  readonly draw: number;
  /** How many a draw had that was made. */
  outcomes: number;
  mark: number;
  translated?: { readonly ip: string; readonly port: number };
};

/** How the way through a hook ends early. Translation and masquerade end it as well, with the packet going on. */
export type End = 'drop' | 'reject' | 'masquerade';
type ChainEnd = End | 'return' | 'accept';

export function passChain(traveller: Traveller, chain: string, ruleset: Ruleset): End | 'return' {
  const end = follow(traveller, chain, ruleset);
  return end === 'accept' ? 'return' : end;
}

function follow(traveller: Traveller, chain: string, ruleset: Ruleset): ChainEnd {
  const rules = ruleset.chains.get(chain);
  if (rules === undefined) throw new Error(`Cannot go to chain "${chain}": there is none`);
  for (const statements of rules) {
    const end = passRule(traveller, statements, ruleset);
    if (end !== undefined) return end;
  }
  return 'return';
}

/** Undefined where the next rule is asked. */
function passRule(
  traveller: Traveller,
  statements: readonly Statement[],
  ruleset: Ruleset,
): ChainEnd | undefined {
  for (const statement of statements) {
    const isMatch = matches(traveller, statement, ruleset);
    if (isMatch === false) return undefined;
    if (isMatch === true) continue;
    const then = act(traveller, statement, ruleset);
    if (then !== 'go on') return then;
  }
  return undefined;
}

/** Undefined as an end: the rule is over, and the next one is asked. */
function act(
  traveller: Traveller,
  statement: Statement,
  ruleset: Ruleset,
): ChainEnd | undefined | 'go on' {
  switch (statement.kind) {
    case 'set-mark':
      traveller.mark = (traveller.mark | statement.bit) >>> 0;
      return 'go on';
    case 'clear-mark':
      traveller.mark = (traveller.mark & ~statement.bit) >>> 0;
      return 'go on';
    case 'masquerade':
      return 'masquerade';
    case 'reject':
      return 'reject';
    case 'verdict':
      return obey(traveller, statement.verdict, ruleset);
    case 'look-up-verdict': {
      const data = lookUp(traveller, statement.map, statement.fields, ruleset)?.data;
      return data !== undefined && 'kind' in data ? obey(traveller, data, ruleset) : undefined;
    }
    case 'translate-by-map': {
      const data = lookUp(traveller, statement.map, statement.fields, ruleset)?.data;
      if (data === undefined || 'kind' in data) return undefined;
      traveller.translated = { ip: String(data[0]), port: Number(data[1]) };
      return 'accept';
    }
    default:
      throw new Error(`Cannot walk a packet: this mode writes no statement "${statement.kind}"`);
  }
}

function obey(traveller: Traveller, verdict: Verdict, ruleset: Ruleset): ChainEnd | undefined {
  if (!('chain' in verdict)) return verdict.kind;
  const end = follow(traveller, verdict.chain, ruleset);
  return verdict.kind === 'jump' && end === 'return' ? undefined : end;
}

/** Undefined for statements that do not match but act. */
function matches(
  traveller: Traveller,
  statement: Statement,
  ruleset: Ruleset,
): boolean | undefined {
  const { packet } = traveller;
  switch (statement.kind) {
    case 'match-set':
      return lookUp(traveller, statement.set, statement.fields, ruleset) !== undefined;
    case 'match-range': {
      const ip = String(readField(traveller, statement.field));
      return isWithin(ip, statement.cidr) !== statement.isInverted;
    }
    case 'match-protocol':
      return readField(traveller, 'protocol') === statement.protocol;
    case 'match-input-interface': {
      const name = packet.inputInterface ?? '';
      const isSame = statement.isPrefix ? name.startsWith(statement.name) : name === statement.name;
      return isSame !== statement.isInverted;
    }
    case 'match-local-address':
      return statement.field === 'source' ? packet.isFromNode : packet.isToNode;
    case 'match-new-connection':
      return true;
    case 'match-mark':
      return (traveller.mark & statement.bit) !== 0;
    default:
      return undefined;
  }
}

function lookUp(
  traveller: Traveller,
  name: string,
  fields: readonly Field[],
  ruleset: Ruleset,
): Element | undefined {
  const elements = ruleset.elements.get(name);
  const values = fields.map((field) => readField(traveller, field));
  if (!setsOfRanges.has(name)) return elements?.get(values.join(' '));
  return [...(elements?.values() ?? [])].find(({ key }) =>
    key.every((part, at) => isPart(values[at] ?? '', part)),
  );
}

const setsOfRanges: ReadonlySet<string> = new Set(
  allSets.filter(({ hasIntervals }) => hasIntervals).map(({ name }) => name),
);

function isPart(value: Scalar, part: Scalar): boolean {
  return typeof part === 'string' && part.includes('/')
    ? isWithin(String(value), part)
    : value === part;
}

function readField(traveller: Traveller, field: Field): Scalar {
  const { packet, translated, draw } = traveller;
  switch (field) {
    case 'source':
      return packet.source;
    case 'destination':
      return translated?.ip ?? packet.destination;
    case 'protocol':
      return packet.protocol.toLowerCase();
    case 'destination-port':
      return translated?.port ?? packet.destinationPort;
    default:
      if ('fixed' in field) return field.fixed;
      traveller.outcomes = Math.max(traveller.outcomes, field.random);
      return draw;
  }
}

function isWithin(ip: string, range: string): boolean {
  const address = parseAddress(ip);
  if (address === undefined) return false;
  const cidr = parseCidr(range.includes('/') ? range : `${range}/${addressBits(address.family)}`);
  return cidr !== undefined && containsAddress(cidr, address);
}
