// Statements as the kernel runs them. What nft itself makes of the same text is the model: its listing must read the same.
import { addressBytes, familyNumber, parsePrefix } from '../netlink/address-bytes.ts';
import {
  type Expression,
  type ExpressionValue,
  registerAt,
  verdictRegister,
} from './expressions.ts';
import type { Field, Rule, Statement, TableFamily } from './objects.ts';
import { paddedLength, scalarBytes, typeBytes } from './set-types.ts';

const base = { network: 1, transport: 2 } as const;
const metaKey = { mark: 3, inputInterface: 6, protocol: 16 } as const;
const conntrackKey = { state: 0, status: 2 } as const;
/** Bits as the kernel's conntrack numbers its states and its statuses. */
const stateNew = 1 << 3;
const statusDestinationTranslated = 1 << 5;
const comparison = { equal: 0, different: 1 } as const;
const fibFlag = { source: 1, destination: 2 } as const;
const fibAddressType = 3;
const addressTypeLocal = 2;
const numgenRandom = 1;
const dynsetUpdate = 1;
const natDestination = 1;
/** Source ports are drawn at random, whatever the connection's own was. */
const masqueradeFullyRandom = 0x10;
const rejectType = { unreachable: 0, tcpReset: 1 } as const;
const portUnreachable = { ip: 3, ip6: 4 } as const;
const interfaceNameBytes = 16;

const addressOffset = {
  ip: { source: 12, destination: 16 },
  ip6: { source: 8, destination: 24 },
} as const;
const destinationPortOffset = 2;

export const ipFamilyOf = { ip: 'IPv4', ip6: 'IPv6' } as const;

export function ruleExpressions({ statements }: Rule, family: TableFamily): Expression[] {
  return statements.flatMap((statement) => statementExpressions(statement, family));
}

function statementExpressions(statement: Statement, family: TableFamily): Expression[] {
  switch (statement.kind) {
    case 'match-set':
      return [...loadFields(statement.fields, family), lookUp(statement.set)];
    case 'match-range':
      return matchRange(statement, family);
    case 'match-protocol':
      return [loadMeta(metaKey.protocol), compare(scalarBytes('protocol', statement.protocol))];
    case 'match-input-interface':
      return matchInterface(statement);
    case 'match-local-address':
      return [
        make('fib', {
          destination: 1,
          result: fibAddressType,
          flags: fibFlag[statement.field],
        }),
        compare(hostNumber(addressTypeLocal)),
      ];
    case 'match-new-connection':
      return matchConnection(conntrackKey.state, stateNew);
    case 'match-translated':
      return matchConnection(conntrackKey.status, statusDestinationTranslated);
    case 'match-mark':
      return [loadMeta(metaKey.mark), mask(statement.bit), compare(hostNumber(statement.bit))];
    case 'match-one-in':
      return [random(statement.count, 1), compare(hostNumber(0))];
    default:
      return actionExpressions(statement, family);
  }
}

type Match = `match-${string}`;
type Action = Exclude<Statement, { readonly kind: Match }>;

function actionExpressions(statement: Action, family: TableFamily): Expression[] {
  switch (statement.kind) {
    case 'set-mark':
      return changeMark(statement.bit, statement.bit);
    case 'clear-mark':
      return changeMark(statement.bit, 0);
    case 'remember':
      return [
        ...loadFields(statement.fields, family),
        make('dynset', {
          set: statement.set,
          operation: dynsetUpdate,
          key: 1,
          timeoutMs: statement.timeoutSeconds * 1000,
        }),
      ];
    case 'look-up-verdict':
      return [...loadFields(statement.fields, family), lookUp(statement.map, verdictRegister)];
    case 'translate-by-map':
      return [
        ...loadFields(statement.fields, family),
        lookUp(statement.map, 1),
        translate(family, registerAt(typeBytes('address', family))),
      ];
    case 'translate':
      return [
        immediate(1, addressBytes(statement.address)),
        immediate(2, scalarBytes('port', statement.port)),
        translate(family, 2),
      ];
    case 'masquerade':
      return [make('masq', { flags: masqueradeFullyRandom })];
    case 'reject':
      return [
        statement.answer === 'tcp-reset'
          ? make('reject', { type: rejectType.tcpReset })
          : make('reject', { type: rejectType.unreachable, code: portUnreachable[family] }),
      ];
    case 'verdict':
      return [immediate(verdictRegister, statement.verdict)];
  }
}

/** Several fields lie side by side, each at the next multiple of four bytes. */
function loadFields(fields: readonly Field[], family: TableFamily): Expression[] {
  let offset = 0;
  return fields.map((field) => {
    const destination = registerAt(offset);
    offset += paddedLength(fieldBytes(field, family));
    return loadField(field, family, destination);
  });
}

function fieldBytes(field: Field, family: TableFamily): number {
  if (field === 'source' || field === 'destination') return typeBytes('address', family);
  if (field === 'protocol') return typeBytes('protocol', family);
  return field === 'destination-port' ? typeBytes('port', family) : typeBytes('index', family);
}

function loadField(field: Field, family: TableFamily, destination: number): Expression {
  switch (field) {
    case 'source':
    case 'destination':
      return loadAddress(field, family, { destination, length: typeBytes('address', family) });
    case 'protocol':
      return make('meta', { destination, key: metaKey.protocol });
    case 'destination-port':
      return make('payload', {
        destination,
        base: base.transport,
        offset: destinationPortOffset,
        length: typeBytes('port', family),
      });
    default:
      return 'random' in field
        ? random(field.random, destination)
        : random(1, destination, field.fixed);
  }
}

function loadAddress(
  field: 'source' | 'destination',
  family: TableFamily,
  into: { readonly destination: number; readonly length: number },
): Expression {
  return make('payload', {
    destination: into.destination,
    base: base.network,
    offset: addressOffset[family][field],
    length: into.length,
  });
}

/** A prefix of whole bytes needs no mask: only so many are loaded. */
function matchRange(
  { field, cidr, isInverted }: Extract<Statement, { kind: 'match-range' }>,
  family: TableFamily,
): Expression[] {
  const prefix = parsePrefix(cidr);
  const operation = isInverted ? comparison.different : comparison.equal;
  const whole = prefix.length / 8;
  if (Number.isInteger(whole) && whole > 0) {
    return [
      loadAddress(field, family, { destination: 1, length: whole }),
      compare(prefix.bytes.slice(0, whole), operation),
    ];
  }
  const { length } = prefix.bytes;
  const bits = prefixMask(prefix.length, length);
  const network = prefix.bytes.map((byte, at) => byte & (bits[at] ?? 0));
  return [
    loadAddress(field, family, { destination: 1, length }),
    make('bitwise', { source: 1, destination: 1, length, mask: bits, xor: new Uint8Array(length) }),
    compare(network, operation),
  ];
}

function prefixMask(prefixLength: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => {
    const bits = Math.min(8, Math.max(0, prefixLength - at * 8));
    return (0xff << (8 - bits)) & 0xff;
  });
}

function matchInterface({
  name,
  isPrefix,
  isInverted,
}: Extract<Statement, { kind: 'match-input-interface' }>): Expression[] {
  const bytes = new Uint8Array(isPrefix ? Buffer.byteLength(name) : interfaceNameBytes);
  bytes.set(Buffer.from(name));
  return [
    loadMeta(metaKey.inputInterface),
    compare(bytes, isInverted ? comparison.different : comparison.equal),
  ];
}

function matchConnection(key: number, bit: number): Expression[] {
  return [
    make('ct', { destination: 1, key }),
    mask(bit),
    compare(hostNumber(0), comparison.different),
  ];
}

/** Marks are changed as (mark & ~bit) ^ value. */
function changeMark(bit: number, value: number): Expression[] {
  return [
    loadMeta(metaKey.mark),
    mask(~bit >>> 0, value),
    make('meta', { key: metaKey.mark, source: 1 }),
  ];
}

function translate(family: TableFamily, portRegister: number): Expression {
  return make('nat', {
    type: natDestination,
    family: familyNumber[ipFamilyOf[family]],
    address: 1,
    port: portRegister,
  });
}

function random(modulus: number, destination: number, offset = 0): Expression {
  return make('numgen', { destination, modulus, type: numgenRandom, offset });
}

function loadMeta(key: number): Expression {
  return make('meta', { destination: 1, key });
}

function mask(bits: number, xor = 0): Expression {
  return make('bitwise', {
    source: 1,
    destination: 1,
    length: 4,
    mask: hostNumber(bits),
    xor: hostNumber(xor),
  });
}

function compare(value: Uint8Array, operation: number = comparison.equal): Expression {
  return make('cmp', { source: 1, operation, value });
}

function lookUp(set: string, destination?: number): Expression {
  return make('lookup', {
    set,
    source: 1,
    ...(destination === undefined ? {} : { destination }),
    flags: 0,
  });
}

function immediate(destination: number, value: ExpressionValue): Expression {
  return make('immediate', { destination, value });
}

function make(name: string, values: Expression['values']): Expression {
  return { name, values };
}

/** What the kernel computes itself is in the machine's byte order. */
function hostNumber(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
}
