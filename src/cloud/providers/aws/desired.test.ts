import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../kinds/service/types.ts';
import { examplePort, exampleService } from '../../example.ts';
import { UnmetRequestError } from '../../provider.ts';
import { annotation } from './annotations.ts';
import type { ClassicWanted, NetworkWanted, Wanted } from './balancer.ts';
import { desired, desiredNodeRules } from './desired.ts';
import { balancerName, targetGroupName } from './names.ts';
import { readRequest } from './request.ts';
import { ruleKey } from './rules.ts';

const placement = {
  vpcId: 'vpc-1',
  subnets: ['a', 'b'].map((zone, at) => ({
    ...{ id: `subnet-${zone}`, vpcId: 'vpc-1', zone, cidr: `10.0.${at}.0/24`, tags: {} },
  })),
};
const instances = [
  { id: 'i-1', groupIds: [], isRunning: true },
  { id: 'i-2', groupIds: [], isRunning: true },
];
const certificate = 'arn:aws:acm:eu-1:1:certificate/x';

const want = (service: Service): Wanted =>
  desired({ cluster: 'lab', request: readRequest(service), placement, instances });

function classic(annotations: Record<string, string>, spec: Partial<Service['spec']> = {}) {
  const { balancer } = want(exampleService({ annotations, spec }));
  assert.equal(balancer.kind, 'classic');
  return balancer as ClassicWanted;
}

function network(annotations: Record<string, string>, spec: Partial<Service['spec']> = {}) {
  const all = { ...annotations, [annotation.type]: 'nlb' };
  const { balancer } = want(exampleService({ annotations: all, spec }));
  assert.equal(balancer.kind, 'network');
  return balancer as NetworkWanted;
}

const rulesOf = (service: Service, groupId?: string): readonly string[] =>
  desiredNodeRules(readRequest(service), placement, groupId).map(
    (rule) => `${ruleKey(rule)} ${rule.description}`,
  );

describe('names', () => {
  test('of a balancer: a letter and the UID, 32 characters at most', () => {
    const name = balancerName('a1b2c3d4-e5f6-a7b8-c9d0-e1f2a3b4c5d6');
    assert.equal(name, 'aa1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d');
  });

  test('of a target group: told apart by what can not be changed', () => {
    const owner = { namespace: 'shop', name: 'front-end-long', uid: '1' };
    const port = { port: 80, nodePort: 30080, protocol: 'TCP' };
    const name = targetGroupName('lab', owner, port);
    assert.match(name, /^k8s-shop-frontend-[0-9a-z]{10}$/);
    const others = [
      targetGroupName('other', owner, port),
      targetGroupName('lab', { ...owner, uid: '2' }, port),
      targetGroupName('lab', owner, { ...port, nodePort: 30081 }),
      targetGroupName('lab', owner, { ...port, protocol: 'UDP' }),
    ];
    assert.equal(new Set([name, ...others]).size, 5);
  });
});

describe('desired() of a classic balancer', () => {
  const protocols: readonly [string, Record<string, string>, readonly [string, string]][] = [
    ['plain', {}, ['TCP', 'TCP']],
    ['plain HTTP (LBC-26)', { [annotation.backendProtocol]: 'http' }, ['HTTP', 'HTTP']],
    ['encrypted behind (LBC-26)', { [annotation.backendProtocol]: 'https' }, ['TCP', 'TCP']],
    ['a certificate (LBC-24)', { [annotation.certificate]: certificate }, ['SSL', 'TCP']],
    ...(['http HTTPS HTTP', 'https HTTPS HTTPS', 'tcp SSL TCP', 'ssl SSL SSL'] as const).map(
      (words): [string, Record<string, string>, readonly [string, string]] => {
        const [backend = '', outside = '', inside = ''] = words.split(' ');
        const annotations = {
          [annotation.certificate]: certificate,
          [annotation.backendProtocol]: backend,
        };
        return [`a certificate and ${backend} (LBC-26)`, annotations, [outside, inside]];
      },
    ),
  ];
  for (const [title, annotations, protocolsOf] of protocols) {
    test(`listens with ${title}`, () => {
      const [listener] = classic(annotations).listeners;
      assert.deepEqual([listener?.protocol, listener?.instanceProtocol], protocolsOf);
    });
  }

  test('encrypts the named ports only, by number or name (LBC-25)', () => {
    const ports = [
      { ...examplePort, name: 'plain', port: 80, nodePort: 30080 },
      { ...examplePort, name: 'https', port: 443, nodePort: 30443 },
      { ...examplePort, name: 'more', port: 444, nodePort: 30444 },
    ];
    const { listeners } = classic(
      { [annotation.certificate]: certificate, [annotation.sslPorts]: 'https,444' },
      { ports },
    );
    assert.deepEqual(
      listeners.map(({ port, protocol, certificate: own }) => [port, protocol, own]),
      [
        [80, 'TCP', undefined],
        [443, 'SSL', certificate],
        [444, 'SSL', certificate],
      ],
    );
  });

  test('checks the health of the node proxy, or of the Service with policy Local (LBC-16)', () => {
    assert.equal(classic({}).healthTarget, 'HTTP:10256/healthz');
    const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 } as const;
    assert.equal(classic({}, local).healthTarget, 'HTTP:31000/healthz');
  });

  test('makes a group that lets clients in, unless groups are given (LBC-18, LBC-34)', () => {
    const { group } = want(exampleService());
    assert.deepEqual(group?.rules.map(ruleKey), ['tcp 80-80 0.0.0.0/0', 'icmp 3-4 0.0.0.0/0']);
    const spec = { loadBalancerSourceRanges: ['192.0.2.0/24', '2001:db8::/32'] };
    const ranged = want(exampleService({ spec })).group;
    assert.deepEqual(ranged?.rules.map(ruleKey), [
      'tcp 80-80 192.0.2.0/24',
      'icmp 3-4 192.0.2.0/24',
    ]);
    const annotations = { [annotation.securityGroups]: 'sg-1,sg-2' };
    const given = want(exampleService({ annotations }));
    assert.equal(given.group, undefined);
    assert.deepEqual((given.balancer as ClassicWanted).groupIds, ['sg-1', 'sg-2']);
    const extra = { [annotation.extraSecurityGroups]: 'sg-9' };
    assert.deepEqual(classic(extra).groupIds, ['sg-9']);
    assert.notEqual(want(exampleService({ annotations: extra })).group, undefined);
  });

  test('opens nodes to the first group (LBC-34)', () => {
    assert.match(rulesOf(exampleService(), 'sg-own').join(), /^-1 -1--1 sg-own .*elb\/source=a/);
    const annotations = { [annotation.securityGroups]: 'sg-1,sg-2' };
    assert.match(rulesOf(exampleService({ annotations })).join(), /^-1 -1--1 sg-1 .*elb\/lent=a/);
  });

  test('marks everything as its own, with tags of people beside (LBC-32)', () => {
    const annotations = { [annotation.resourceTags]: 'team=a' };
    assert.deepEqual(want(exampleService({ annotations })).tags, {
      team: 'a',
      'kubernetes.io/cluster/lab': 'owned',
      'kubernetes.io/service-name': 'default/web',
    });
  });
});

describe('desired() of a network balancer', () => {
  test('has a listener and a target group for each port (LBC-23, LBC-37)', () => {
    const ports = [
      { ...examplePort, name: 'a', port: 80, nodePort: 30080 },
      { ...examplePort, name: 'b', port: 53, nodePort: 30053, protocol: 'UDP' as const },
    ];
    const { listeners } = network({}, { ports });
    assert.deepEqual(
      listeners.map(({ port, protocol, targetGroup }) => [
        ...[port, protocol, targetGroup.protocol, targetGroup.port],
        ...[targetGroup.healthPort, targetGroup.healthPath],
      ]),
      [
        [80, 'TCP', 'TCP', 30080, 10256, '/healthz'],
        [53, 'UDP', 'UDP', 30053, 10256, '/healthz'],
      ],
    );
  });

  test('encrypts outside, and inside where the backend does (LBC-24, LBC-26)', () => {
    const plain = network({ [annotation.certificate]: certificate }).listeners[0];
    assert.deepEqual([plain?.protocol, plain?.targetGroup.protocol], ['TLS', 'TCP']);
    const both = network({
      [annotation.certificate]: certificate,
      [annotation.backendProtocol]: 'ssl',
      [annotation.sslPolicy]: 'P',
    }).listeners[0];
    assert.deepEqual(
      [both?.protocol, both?.targetGroup.protocol, both?.sslPolicy],
      ['TLS', 'TLS', 'P'],
    );
  });

  test('keeps a client at its node when the Service asks for it, and adds PROXY headers (LBC-28)', () => {
    const { listeners } = network(
      { [annotation.proxyProtocol]: '*' },
      { sessionAffinity: 'ClientIP' },
    );
    assert.deepEqual(listeners[0]?.targetGroup.attributes, {
      'proxy_protocol_v2.enabled': 'true',
      'stickiness.enabled': 'true',
      'stickiness.type': 'source_ip',
    });
  });

  test('opens nodes to clients, health checks and ICMP, each described (LBC-36)', () => {
    const service = exampleService({
      uid: 'u1',
      annotations: { [annotation.type]: 'nlb' },
      spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] },
    });
    assert.deepEqual(rulesOf(service), [
      'tcp 30080-30080 192.0.2.0/24 kubernetes.io/rule/nlb/client=au1',
      'tcp 10256-10256 10.0.0.0/24 kubernetes.io/rule/nlb/health=au1',
      'tcp 10256-10256 10.0.1.0/24 kubernetes.io/rule/nlb/health=au1',
      'icmp 3-4 192.0.2.0/24 kubernetes.io/rule/nlb/mtu=au1',
    ]);
  });
});

describe('readRequest() refuses', () => {
  const refused: readonly [string, Partial<Service['spec']>, RegExp][] = [
    ['no ports', { ports: [] }, /at least one port/],
    ['UDP at a classic balancer (LBC-19)', { ports: [{ ...examplePort, protocol: 'UDP' }] }, /UDP/],
    ['a port without node port', { ports: [{ ...examplePort, nodePort: 0 }] }, /NodePorts must be/],
    ['IPv6 alone', { ipFamilies: ['IPv6'] }, /IPv4/],
    ['affinity at a classic balancer', { sessionAffinity: 'ClientIP' }, /must be None/],
    ['a range that is none', { loadBalancerSourceRanges: ['everyone'] }, /no CIDR/],
  ];
  for (const [title, spec, says] of refused) {
    test(title, () => {
      assert.throws(
        () => readRequest(exampleService({ spec })),
        (error: unknown) => error instanceof UnmetRequestError && says.test(error.message),
      );
    });
  }

  test('one port with two protocols at a network balancer (LBC-19)', () => {
    const ports = [examplePort, { ...examplePort, protocol: 'UDP' as const, nodePort: 30081 }];
    const annotations = { [annotation.type]: 'nlb' };
    assert.throws(() => readRequest(exampleService({ annotations, spec: { ports } })), /twice/);
  });
});
