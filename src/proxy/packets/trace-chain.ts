// What the kernel does with a packet in one chain of nftables, statement by statement.
import type {
  Element,
  Field,
  NftSet,
  Scalar,
  Statement,
  Verdict,
} from '../../host/nftables/objects.ts';
import { isInRange } from '../../ip/cidr.ts';
import type { Choose } from './all-choices.ts';
import type { RuleListener } from './met-rule.ts';
import type { Packet } from './packet.ts';

/** The table by name. Sets that rules fill are empty: the packet is the first of its client. */
export type Ruleset = {
  readonly chains: ReadonlyMap<string, readonly (readonly Statement[])[]>;
  readonly sets: ReadonlyMap<string, SetContents>;
};

export type SetContents = {
  readonly set: NftSet;
  readonly elements: ReadonlyMap<string, Element>;
};

/** A packet and its state, which rules change. */
export type TracedPacket = {
  readonly packet: Packet;
  readonly draw: Choose;
  readonly met?: RuleListener;
  mark: number;
  translated?: { readonly ip: string; readonly port: number };
  isMasqueraded: boolean;
};

/** How a chain ends: at its end, or with a verdict for the hook. */
export type ChainEnd = 'return' | 'accept' | 'drop' | 'reject';

export function startTrace(packet: Packet, draw: Choose, met?: RuleListener): TracedPacket {
  return { packet, draw, mark: 0, isMasqueraded: false, ...(met === undefined ? {} : { met }) };
}

export function traceChain(traveller: TracedPacket, chain: string, ruleset: Ruleset): ChainEnd {
  const rules = ruleset.chains.get(chain);
  if (rules === undefined) throw new Error(`Cannot go to chain "${chain}": there is none`);
  for (const statements of rules) {
    const end = passRule(traveller, { chain, statements }, ruleset);
    if (end !== undefined) return end;
  }
  return 'return';
}

/** Undefined if evaluation continues with the next rule. */
function passRule(
  traveller: TracedPacket,
  { chain, statements }: ChainRule,
  ruleset: Ruleset,
): ChainEnd | undefined {
  const elements: Found[] = [];
  const seen = { ...ruleset, found: (one: Found) => elements.push(one) };
  let last: Exclude<Then, 'no match'> = 'go on';
  for (const statement of statements) {
    const then = passStatement(traveller, statement, seen);
    if (then === 'no match') return undefined;
    last = then;
    if (then !== 'go on') break;
  }
  traveller.met?.({ kind: 'statements', chain, statements, elements });
  if (last === 'go on') return undefined;
  return 'kind' in last ? follow(traveller, last, ruleset) : last.end;
}

type ChainRule = { readonly chain: string; readonly statements: readonly Statement[] };
type Found = { readonly set: string; readonly element: Element };
type ObservedRuleset = Ruleset & { readonly found: (one: Found) => void };

function follow(traveller: TracedPacket, verdict: Verdict, ruleset: Ruleset): ChainEnd | undefined {
  if (!('chain' in verdict)) return verdict.kind;
  const end = traceChain(traveller, verdict.chain, ruleset);
  return verdict.kind === 'jump' && end === 'return' ? undefined : end;
}

type Then = 'go on' | 'no match' | Verdict | { readonly end: ChainEnd };

function passStatement(
  traveller: TracedPacket,
  statement: Statement,
  ruleset: ObservedRuleset,
): Then {
  const found = matches(traveller, statement, ruleset);
  if (found !== undefined) return found ? 'go on' : 'no match';
  switch (statement.kind) {
    case 'set-mark':
      traveller.mark = (traveller.mark | statement.bit) >>> 0;
      return 'go on';
    case 'clear-mark':
      traveller.mark = (traveller.mark & ~statement.bit) >>> 0;
      return 'go on';
    case 'look-up-verdict': {
      const data = lookUp(traveller, statement.map, statement.fields, ruleset)?.data;
      return data !== undefined && 'kind' in data ? data : 'no match';
    }
    case 'translate-by-map': {
      const data = lookUp(traveller, statement.map, statement.fields, ruleset)?.data;
      if (data === undefined || 'kind' in data) return 'no match';
      return translate(traveller, String(data[0]), Number(data[1]));
    }
    case 'translate':
      return translate(traveller, statement.address, statement.port);
    case 'masquerade':
      traveller.isMasqueraded = true;
      return { end: 'accept' };
    case 'reject':
      return { end: 'reject' };
    case 'verdict':
      return statement.verdict;
    default:
      return 'go on';
  }
}

/** Undefined for statements that do not match but act. */
function matches(
  traveller: TracedPacket,
  statement: Statement,
  ruleset: ObservedRuleset,
): boolean | undefined {
  const { packet } = traveller;
  switch (statement.kind) {
    case 'match-set':
      return lookUp(traveller, statement.set, statement.fields, ruleset) !== undefined;
    case 'match-range':
      return (
        isInRange(String(readField(traveller, statement.field)), statement.cidr) !==
        statement.isInverted
      );
    case 'match-protocol':
      return readField(traveller, 'protocol') === statement.protocol;
    case 'match-input-interface': {
      const name = packet.inputInterface ?? '';
      const isSame = statement.isPrefix ? name.startsWith(statement.name) : name === statement.name;
      return isSame !== statement.isInverted;
    }
    case 'match-local-address':
      return statement.field === 'source'
        ? packet.isFromNode
        : packet.isToNode && traveller.translated === undefined;
    case 'match-new-connection':
      return true;
    case 'match-translated':
      return traveller.translated !== undefined;
    case 'match-mark':
      return (traveller.mark & statement.bit) !== 0;
    case 'match-one-in':
      return traveller.draw([1 / statement.count, 1 - 1 / statement.count]) === 0;
    default:
      return undefined;
  }
}

function translate(traveller: TracedPacket, ip: string, port: number): Then {
  traveller.translated = { ip, port };
  return { end: 'accept' };
}

function lookUp(
  traveller: TracedPacket,
  name: string,
  fields: readonly Field[],
  { sets, found }: ObservedRuleset,
): Element | undefined {
  const contents = sets.get(name);
  if (contents === undefined) throw new Error(`Set "${name}" does not exist`);
  const values = fields.map((field) => readField(traveller, field));
  const element = contents.set.hasIntervals
    ? [...contents.elements.values()].find(({ key }) =>
        key.every((part, at) => isPart(values[at] ?? '', part)),
      )
    : contents.elements.get(values.join(' '));
  if (element !== undefined) found({ set: name, element });
  return element;
}

function isPart(value: Scalar, part: Scalar): boolean {
  return typeof part === 'string' && part.includes('/')
    ? isInRange(String(value), part)
    : value === part;
}

function readField({ packet, translated, draw }: TracedPacket, field: Field): Scalar {
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
      return draw(Array.from({ length: field.random }, () => 1 / field.random));
  }
}
