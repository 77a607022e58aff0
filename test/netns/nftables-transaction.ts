// A transaction with every kind of statement, set and element there is, for both families.
import type {
  Element,
  NftSet,
  Operation,
  Statement,
  TableFamily,
  Transaction,
} from '../../src/host/nftables/objects.ts';

const addresses = {
  ip: {
    a: '10.96.0.1',
    b: '10.0.0.7',
    any: '0.0.0.0/0',
    odd: '10.64.0.0/10',
    even: '10.0.0.0/8',
    last: '255.255.255.255',
  },
  ip6: {
    a: 'fd00:96::1',
    b: 'fd00::7',
    any: '::/0',
    odd: 'fd00:8000::/17',
    even: 'fd01::/16',
    last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  },
} as const;

export function everyKind(family: TableFamily): Transaction {
  const sets = everySet();
  const chains: Operation[] = [
    {
      kind: 'add-chain',
      chain: { name: 'services', base: { type: 'nat', hook: 'prerouting', priority: -100 } },
    },
    {
      kind: 'add-chain',
      chain: { name: 'sources', base: { type: 'nat', hook: 'postrouting', priority: 100 } },
    },
    {
      kind: 'add-chain',
      chain: { name: 'filter', base: { type: 'filter', hook: 'forward', priority: -110 } },
    },
    { kind: 'add-chain', chain: { name: 'plain' } },
    { kind: 'add-chain', chain: { name: 'target' } },
  ];
  return {
    table: { family, name: 'every-kind' },
    operations: [
      { kind: 'add-table' },
      ...chains,
      ...sets.map((set): Operation => ({ kind: 'add-set', set })),
      ...rules(family),
      ...elements(family, sets),
    ],
  };
}

export function everySet(): NftSet[] {
  return [
    { name: 'addresses', key: ['address'] },
    { name: 'protocols', key: ['protocol'] },
    { name: 'ports', key: ['port'] },
    { name: 'sockets', key: ['address', 'protocol', 'port'] },
    { name: 'ranges', key: ['address'], hasIntervals: true },
    { name: 'allowed', key: ['address', 'address'], hasIntervals: true },
    // No rule looks it up: nft 1.0.6 then swaps the bytes of the protocol, all one of them, which Linux 6.12 refuses.
    {
      name: 'allowed-by-protocol',
      key: ['address', 'protocol', 'port', 'address'],
      hasIntervals: true,
    },
    { name: 'clients', key: ['address', 'index'], dynamicSize: 65535 },
    { name: 'pairs', key: ['address', 'address'], dynamicSize: 1024 },
    { name: 'verdicts', key: ['address', 'protocol', 'port'], data: 'verdict' },
    { name: 'node-ports', key: ['protocol', 'port'], data: 'verdict' },
    { name: 'range-verdicts', key: ['address'], data: 'verdict', hasIntervals: true },
    {
      name: 'endpoints',
      key: ['address', 'protocol', 'port', 'index'],
      data: ['address', 'port'],
    },
    { name: 'numbered', key: ['index'], data: ['address', 'port'] },
    { name: 'marked', key: ['mark'], data: ['address'] },
    { name: 'marks', key: ['mark'], data: ['mark'] },
    { name: 'marks-by-number', key: ['index', 'mark'], data: ['mark'] },
  ];
}

function rules(family: TableFamily): Operation[] {
  const { a, b, any, odd, even } = addresses[family];
  const socket = ['destination', 'protocol', 'destination-port'] as const;
  const tcp: Statement = { kind: 'match-protocol', protocol: 'tcp' };
  const plain: (readonly Statement[])[] = [
    [{ kind: 'match-set', fields: ['source'], set: 'addresses' }],
    [{ kind: 'match-set', fields: ['source'], set: 'ranges' }],
    [{ kind: 'match-set', fields: ['protocol'], set: 'protocols' }],
    [{ kind: 'match-set', fields: socket, set: 'sockets' }],
    [
      {
        kind: 'match-set',
        fields: ['destination', 'source'],
        set: 'allowed',
      },
    ],
    ...[a, any, odd, even].flatMap((cidr): Statement[][] =>
      (['source', 'destination'] as const).map((field) => [
        { kind: 'match-range', field, cidr, isInverted: field === 'source' },
        { kind: 'verdict', verdict: { kind: 'return' } },
      ]),
    ),
    [tcp],
    [{ kind: 'match-protocol', protocol: 'sctp' }],
    [{ kind: 'match-input-interface', name: 'eth', isPrefix: true, isInverted: false }],
    [{ kind: 'match-input-interface', name: 'eth0', isPrefix: false, isInverted: true }],
    [{ kind: 'match-local-address', field: 'source' }],
    [{ kind: 'match-local-address', field: 'destination' }],
    [{ kind: 'match-new-connection' }],
    [{ kind: 'match-translated' }],
    [{ kind: 'match-mark', bit: 0x4000 }],
    [{ kind: 'match-one-in', count: 7 }],
    [{ kind: 'set-mark', bit: 0x4000 }],
    [{ kind: 'clear-mark', bit: 0x4000 }],
    [
      {
        kind: 'remember',
        fields: ['source', { fixed: 7 }],
        set: 'clients',
        timeoutSeconds: 10800,
      },
    ],
    [
      {
        kind: 'remember',
        fields: ['source', 'destination'],
        set: 'pairs',
        timeoutSeconds: 60,
      },
    ],
    [{ kind: 'look-up-verdict', fields: socket, map: 'verdicts' }],
    [
      {
        kind: 'look-up-verdict',
        fields: ['protocol', 'destination-port'],
        map: 'node-ports',
      },
    ],
    [tcp, { kind: 'reject', answer: 'tcp-reset' }],
    [{ kind: 'reject', answer: 'port-unreachable' }],
    [{ kind: 'verdict', verdict: { kind: 'jump', chain: 'target' } }],
    [{ kind: 'verdict', verdict: { kind: 'goto', chain: 'target' } }],
    [{ kind: 'verdict', verdict: { kind: 'accept' } }],
    [{ kind: 'verdict', verdict: { kind: 'drop' } }],
  ];
  const services: (readonly Statement[])[] = [
    [{ kind: 'translate-by-map', fields: [...socket, { random: 3 }], map: 'endpoints' }],
    [tcp, { kind: 'translate-by-map', fields: [{ random: 9 }], map: 'numbered' }],
    [tcp, { kind: 'translate', address: b, port: 8080 }],
  ];
  return [
    ...plain.map((statements) => addRule('plain', statements)),
    ...services.map((statements) => addRule('services', statements)),
    addRule('sources', [{ kind: 'masquerade' }]),
  ];
}

function addRule(chain: string, statements: readonly Statement[]): Operation {
  return { kind: 'add-rule', rule: { chain, statements } };
}

function elements(family: TableFamily, sets: readonly NftSet[]): Operation[] {
  const { a, b, even, odd, last } = addresses[family];
  const bySet: Record<string, readonly Element[]> = {
    addresses: [{ key: [a] }, { key: [b] }],
    protocols: [{ key: ['tcp'] }, { key: ['sctp'] }],
    ports: [{ key: [80] }, { key: [65535] }],
    sockets: [{ key: [a, 'tcp', 80] }, { key: [b, 'udp', 53] }],
    ranges: [{ key: [odd] }, { key: [last] }],
    allowed: [{ key: [a, even] }, { key: [b, b] }],
    'allowed-by-protocol': [{ key: [a, 'tcp', 80, even] }, { key: [a, 'udp', 80, b] }],
    verdicts: [
      { key: [a, 'tcp', 80], data: { kind: 'goto', chain: 'target' } },
      { key: [a, 'udp', 80], data: { kind: 'drop' } },
    ],
    'node-ports': [{ key: ['tcp', 30080], data: { kind: 'jump', chain: 'target' } }],
    'range-verdicts': [{ key: [odd], data: { kind: 'accept' } }],
    endpoints: [
      { key: [a, 'tcp', 80, 0], data: [b, 8080] },
      { key: [a, 'tcp', 80, 1], data: [a, 8081] },
    ],
    numbered: [{ key: [7], data: [b, 1] }],
    marked: [{ key: [0x4000], data: [b] }],
    marks: [{ key: [1], data: [0x8000] }],
    'marks-by-number': [{ key: [1, 2], data: [3] }],
  };
  return sets.flatMap((set): Operation[] => {
    const wanted = bySet[set.name];
    return wanted === undefined ? [] : [{ kind: 'add-elements', set, elements: wanted }];
  });
}
