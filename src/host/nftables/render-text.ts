// A transaction as input of `nft -f`, in the language of nft 1.0.1 and later.
import type {
  BaseHook,
  Chain,
  Element,
  Field,
  FieldType,
  NftSet,
  Operation,
  Rule,
  Statement,
  TableFamily,
  Transaction,
  Verdict,
} from './objects.ts';

export function renderTransaction({ table, operations }: Transaction): string {
  const target = `${table.family} ${table.name}`;
  return operations
    .map((operation) => `${renderOperation(operation, table.family, target)}\n`)
    .join('');
}

function renderOperation(operation: Operation, family: TableFamily, target: string): string {
  switch (operation.kind) {
    case 'add-table':
      return `add table ${target}`;
    case 'delete-table':
      return `delete table ${target}`;
    case 'add-chain':
      return `add chain ${target} ${renderChain(operation.chain)}`;
    case 'flush-chain':
      return `flush chain ${target} ${operation.chain}`;
    case 'delete-chain':
      return `delete chain ${target} ${operation.chain}`;
    case 'add-rule':
      return `add rule ${target} ${operation.rule.chain} ${renderRule(operation.rule, family)}`;
    case 'add-set':
      return `add ${renderSet(operation.set, family, target)}`;
    case 'delete-set':
      return `delete set ${target} ${operation.set}`;
    case 'add-elements':
      return `add element ${target} ${operation.set.name} { ${operation.elements.map(renderElement).join(', ')} }`;
    case 'delete-elements':
      return `delete element ${target} ${operation.set.name} { ${operation.elements.map(renderKey).join(', ')} }`;
  }
}

function renderChain({ name, base }: Chain): string {
  return base === undefined ? name : `${name} { ${renderBase(base)} }`;
}

function renderBase({ type, hook, priority }: BaseHook): string {
  return `type ${type} hook ${hook} priority ${priority}; policy accept;`;
}

function renderSet(set: NftSet, family: TableFamily, target: string): string {
  const kind = set.data === undefined ? 'set' : 'map';
  return `${kind} ${target} ${set.name} { ${setProperties(set, family).join('; ')}; }`;
}

function setProperties(set: NftSet, family: TableFamily): string[] {
  const properties = [setType(set, family)];
  if (set.hasIntervals) properties.push('flags interval');
  if (set.dynamicSize !== undefined)
    properties.push('flags dynamic,timeout', `size ${set.dynamicSize}`);
  return properties;
}

/** nft cannot name the type of an index: such a set is declared by example. */
function setType({ key, data }: NftSet, family: TableFamily): string {
  const byExample = key.includes('index');
  const names = byExample ? exampleOf[family] : typeName[family];
  const join = (types: readonly FieldType[]): string =>
    types.map((type) => names[type]).join(' . ');
  const keyText = `${byExample ? 'typeof' : 'type'} ${join(key)}`;
  if (data === undefined) return keyText;
  return `${keyText} : ${data === 'verdict' ? 'verdict' : join(data)}`;
}

const typeName: Record<TableFamily, Record<FieldType, string>> = {
  ip: namesOfTypes('ipv4_addr'),
  ip6: namesOfTypes('ipv6_addr'),
};

const exampleOf: Record<TableFamily, Record<FieldType, string>> = {
  ip: examplesOfTypes('ip daddr'),
  ip6: examplesOfTypes('ip6 daddr'),
};

function namesOfTypes(address: string): Record<FieldType, string> {
  return { address, protocol: 'inet_proto', port: 'inet_service', index: 'integer', mark: 'mark' };
}

function examplesOfTypes(address: string): Record<FieldType, string> {
  return {
    address,
    protocol: 'meta l4proto',
    port: 'th dport',
    index: 'numgen random mod 2',
    mark: 'meta mark',
  };
}

export function renderElement(element: Element): string {
  const { data } = element;
  if (data === undefined) return renderKey(element);
  return `${renderKey(element)} : ${'kind' in data ? renderVerdict(data) : data.join(' . ')}`;
}

function renderKey({ key }: Element): string {
  return key.join(' . ');
}

export function renderRule({ statements }: Pick<Rule, 'statements'>, family: TableFamily): string {
  return statements.map((statement) => renderStatement(statement, family)).join(' ');
}

function renderStatement(statement: Statement, family: TableFamily): string {
  switch (statement.kind) {
    case 'match-set':
      return `${renderFields(statement.fields, family)} @${statement.set}`;
    case 'match-range':
      return `${renderField(statement.field, family)} ${unless(statement.isInverted)}${statement.cidr}`;
    case 'match-protocol':
      return `meta l4proto ${statement.protocol}`;
    case 'match-input-interface':
      return `iifname ${unless(statement.isInverted)}"${statement.name}${statement.isPrefix ? '*' : ''}"`;
    case 'match-local-address':
      return `fib ${statement.field === 'source' ? 'saddr' : 'daddr'} type local`;
    case 'match-new-connection':
      return 'ct state new';
    case 'match-translated':
      return 'ct status dnat';
    case 'match-mark':
      return `meta mark & ${hex(statement.bit)} == ${hex(statement.bit)}`;
    case 'match-one-in':
      return `numgen random mod ${statement.count} 0`;
    case 'set-mark':
      return `meta mark set meta mark | ${hex(statement.bit)}`;
    case 'clear-mark':
      return `meta mark set meta mark & ${hex(~statement.bit >>> 0)}`;
    case 'remember':
      return `update @${statement.set} { ${renderFields(statement.fields, family)} timeout ${statement.timeoutSeconds}s }`;
    case 'look-up-verdict':
      return `${renderFields(statement.fields, family)} vmap @${statement.map}`;
    case 'translate-by-map':
      return `dnat ${family} to ${renderFields(statement.fields, family)} map @${statement.map}`;
    case 'translate':
      return `dnat to ${endpointText(statement.address, statement.port)}`;
    case 'masquerade':
      return 'masquerade fully-random';
    case 'reject':
      return `reject with ${answerText(statement.answer, family)}`;
    case 'verdict':
      return renderVerdict(statement.verdict);
  }
}

function renderFields(fields: readonly Field[], family: TableFamily): string {
  return fields.map((field) => renderField(field, family)).join(' . ');
}

function renderField(field: Field, family: TableFamily): string {
  switch (field) {
    case 'source':
      return `${family} saddr`;
    case 'destination':
      return `${family} daddr`;
    case 'protocol':
      return 'meta l4proto';
    case 'destination-port':
      return 'th dport';
    default:
      return 'random' in field
        ? `numgen random mod ${field.random}`
        : `numgen random mod 1 offset ${field.fixed}`;
  }
}

function renderVerdict(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.kind} ${verdict.chain}` : verdict.kind;
}

function endpointText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function answerText(answer: 'tcp-reset' | 'port-unreachable', family: TableFamily): string {
  if (answer === 'tcp-reset') return 'tcp reset';
  return `${family === 'ip' ? 'icmp' : 'icmpv6'} type port-unreachable`;
}

function unless(isInverted: boolean): string {
  return isInverted ? '!= ' : '';
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}
