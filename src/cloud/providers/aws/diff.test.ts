import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleService } from '../../example.ts';
import { cleanupFinalizer } from '../../service-controller/desired.ts';
import { annotation } from './annotations.ts';
import type { ClassicFound, ClassicWanted, Found, NetworkFound, Wanted } from './balancer.ts';
import { desired } from './desired.ts';
import { diff, diffNothing } from './diff.ts';
import { diffNodeRules } from './diff-rules.ts';
import { balancerName } from './names.ts';
import { readRequest } from './request.ts';
import { describeRule, type Rule } from './rules.ts';
import { findSuccessors } from './successors.ts';

const subnets = [{ id: 'subnet-a', vpcId: 'vpc-1', zone: 'a', cidr: '10.0.0.0/24', tags: {} }];
const placement = { vpcId: 'vpc-1', subnets };
const certificate = 'arn:aws:acm:eu-1:1:certificate/x';

function want(annotations: Record<string, string> = {}, instanceIds = ['i-1', 'i-2']): Wanted {
  const request = readRequest(exampleService({ uid: 'u', annotations }));
  const instances = instanceIds.map((id) => ({
    ...{ id: id.replace('stopped ', ''), groupIds: [], isRunning: !id.startsWith('stopped') },
  }));
  return desired({ cluster: 'lab', request, placement, instances });
}

/** As AWS shows it when nothing differs. */
function foundOf(wanted: Wanted): Found {
  const group = wanted.group && { id: 'sg-own', tags: wanted.tags, rules: wanted.group.rules };
  const { balancer } = wanted;
  if (balancer.kind === 'classic') {
    return {
      ...(group === undefined ? {} : { group }),
      classic: classicOf(wanted, balancer),
      targetGroups: [],
    };
  }
  const network: NetworkFound = {
    ...balancer,
    arn: 'lb',
    tags: wanted.tags,
    hostname: 'x',
    listeners: balancer.listeners.map(({ targetGroup, ...listener }) => ({
      ...listener,
      arn: `listener-${listener.port}`,
      tags: wanted.tags,
      targetGroupArn: `arn-${targetGroup.name}`,
    })),
  };
  const targetGroups = balancer.listeners.map(({ targetGroup }) => ({
    ...targetGroup,
    arn: `arn-${targetGroup.name}`,
    tags: wanted.tags,
    instanceIds: balancer.instanceIds,
  }));
  return { network, targetGroups };
}

function classicOf(wanted: Wanted, balancer: ClassicWanted): ClassicFound {
  return {
    ...balancer,
    tags: wanted.tags,
    hostname: 'x',
    listeners: balancer.listeners.map((listener) => ({
      ...listener,
      policies: listener.certificate === undefined ? [] : [balancer.sslPolicy],
    })),
    backendPolicies: new Map(
      balancer.usesProxyProtocol
        ? balancer.listeners.map(({ instancePort }) => [
            instancePort,
            ['k8s-proxyprotocol-enabled'],
          ])
        : [],
    ),
    policies: [],
    groupIds: [...(wanted.group === undefined ? [] : ['sg-own']), ...balancer.groupIds],
  };
}

const kinds = (wanted: Wanted, found: Found): readonly string[] =>
  diff(wanted, found).map(({ kind }) => kind);

const nlb = { [annotation.type]: 'nlb' };

describe('diff()', () => {
  test('of what is there already is nothing', () => {
    const all = [
      {},
      nlb,
      { [annotation.certificate]: certificate, [annotation.proxyProtocol]: '*' },
      { ...nlb, [annotation.certificate]: certificate },
      { [annotation.securityGroups]: 'sg-1' },
    ];
    for (const annotations of all) {
      assert.deepEqual(kinds(want(annotations), foundOf(want(annotations))), []);
    }
  });

  test('makes things in the order in which they need each other', () => {
    const wanted = want();
    assert.deepEqual(kinds(wanted, { targetGroups: [] }), ['createGroup']);
    const { group } = foundOf(wanted);
    assert.ok(group);
    const bare = { group: { ...group, rules: [] }, targetGroups: [] };
    assert.deepEqual(kinds(wanted, bare), ['grant', 'createClassic']);
    assert.deepEqual(kinds(want(nlb), { targetGroups: [] }), [
      'createNetwork',
      'createTargetGroup',
    ]);
  });

  const changes: readonly [string, Record<string, string>, readonly string[]][] = [
    [
      'PROXY protocol (LBC-28)',
      { [annotation.proxyProtocol]: '*' },
      ['createPolicy', 'setBackendPolicies'],
    ],
    ['idle time (LBC-31)', { [annotation.idleTimeout]: '5' }, ['setClassicAttributes']],
    ['draining (LBC-30)', { [annotation.drainingEnabled]: 'true' }, ['setClassicAttributes']],
    ['tags (LBC-32)', { [annotation.resourceTags]: 'a=b' }, ['tagGroup', 'tagClassic']],
    ['health checks (LBC-33)', { [annotation.healthInterval]: '30' }, ['checkHealth']],
    ['more groups (LBC-34)', { [annotation.extraSecurityGroups]: 'sg-2' }, ['setGroups']],
    [
      'a certificate (LBC-24)',
      { [annotation.certificate]: certificate },
      ['deleteListeners', 'createListeners'],
    ],
    ['the scheme (LBC-22)', { [annotation.internal]: 'true' }, ['deleteClassic']],
    ['the kind (LBC-23)', nlb, ['deleteClassic']],
  ];
  for (const [title, annotations, want_] of changes) {
    test(`changes only what differs: ${title}`, () => {
      assert.deepEqual(kinds(want(annotations), foundOf(want())), want_);
    });
  }

  test('changes a certificate in place, and sets a policy where another is (LBC-27)', () => {
    const before = foundOf(want({ [annotation.certificate]: certificate }));
    const other = want({
      [annotation.certificate]: `${certificate}y`,
      [annotation.sslPolicy]: 'P',
    });
    assert.deepEqual(kinds(other, before), [
      'setCertificate',
      'createPolicy',
      'setListenerPolicies',
    ]);
  });

  test('sets no policy at a listener that is replaced (LBC-27)', () => {
    const tls = { [annotation.certificate]: certificate };
    const elsewhere = { ...tls, [annotation.sslPorts]: 'another', [annotation.sslPolicy]: 'P' };
    assert.deepEqual(kinds(want(elsewhere), foundOf(want(tls))), [
      'deleteListeners',
      'createListeners',
    ]);
  });

  test('leaves PROXY protocol on while the listener is made anew (LBC-28)', () => {
    const wanted = want({ [annotation.proxyProtocol]: '*' });
    const { classic, ...others } = foundOf(wanted);
    assert.ok(classic);
    const between = { ...others, classic: { ...classic, listeners: [] } };
    assert.deepEqual(kinds(wanted, between), ['createListeners']);
  });
});

describe('diff() of hosts and target groups', () => {
  test('of hosts touches hosts only', () => {
    assert.deepEqual(kinds(want({}, ['i-2', 'i-3']), foundOf(want())), ['register', 'deregister']);
    assert.deepEqual(kinds(want(nlb, ['i-2', 'i-3']), foundOf(want(nlb))), [
      'registerTargets',
      'deregisterTargets',
    ]);
  });

  test('lets instances that are stopped stay, and not join', () => {
    for (const annotations of [{}, nlb]) {
      const found = foundOf(want(annotations));
      assert.deepEqual(kinds(want(annotations, ['i-1', 'stopped i-2', 'stopped i-3']), found), []);
    }
  });

  test('deletes a target group when no listener leads there any more', () => {
    const wanted = want(nlb);
    const found = foundOf(wanted);
    const [first] = found.targetGroups;
    assert.ok(first && found.network);
    const left = { ...first, arn: 'arn-left', name: 'left' };
    const targetGroups = [...found.targetGroups, left];
    assert.deepEqual(diff(wanted, { ...found, targetGroups }), [
      { kind: 'deleteTargetGroup', arn: 'arn-left' },
    ]);
  });

  test('of a network balancer moves a listener to its new target group first', () => {
    const wanted = want(nlb);
    const found = foundOf(wanted);
    const [first] = found.targetGroups;
    assert.ok(first && found.network);
    const old = { ...first, arn: 'arn-old', name: 'old' };
    const network = {
      ...found.network,
      listeners: found.network.listeners.map((one) => ({ ...one, targetGroupArn: 'arn-old' })),
    };
    assert.deepEqual(kinds(wanted, { network, targetGroups: [first, old] }), ['setListener']);
  });
});

test('diffNothing() takes the balancer first and its target groups after it', () => {
  const found = foundOf(want(nlb));
  assert.deepEqual(diffNothing('au', found), [{ kind: 'deleteNetwork', arn: 'lb' }]);
  const { targetGroups } = found;
  assert.deepEqual(
    diffNothing('au', { targetGroups }).map(({ kind }) => kind),
    ['deleteTargetGroup'],
  );
});

describe('diffNodeRules() (LBC-36)', () => {
  const rule = (purpose: Parameters<typeof describeRule>[0], of: string, port = 1): Rule => ({
    ...{ protocol: 'tcp', from: port, to: port, source: '10.0.0.0/8' },
    description: describeRule(purpose, of),
  });
  const noSuccessor = () => undefined;
  const input = (
    wanted: readonly Rule[],
    found: readonly Rule[],
    successorOf: (r: Rule) => Rule | undefined = noSuccessor,
  ) => diffNodeRules({ balancer: 'mine', wanted, found, successorOf });
  const nothing = { grant: [], revoke: [], describe: [] };

  test('grants what is missing and revokes what is left, of its own only', () => {
    const [a, b, foreign] = [
      rule('nlb/client', 'mine', 1),
      rule('nlb/client', 'mine', 2),
      rule('nlb/client', 'other', 3),
    ];
    assert.deepEqual(input([a], [b, foreign]), { grant: [a], revoke: [b], describe: [] });
    const byHand: Rule = { protocol: 'tcp', from: 4, to: 4, source: '10.0.0.0/8' };
    assert.deepEqual(input([], [byHand]), nothing);
  });

  test('leaves the shared rule of another balancer, and hands its own on', () => {
    assert.deepEqual(input([rule('nlb/health', 'mine')], [rule('nlb/health', 'other')]), nothing);
    const successor = rule('nlb/health', 'other');
    assert.deepEqual(
      input([], [rule('nlb/health', 'mine')], () => successor),
      { ...nothing, describe: [successor] },
    );
  });

  test('takes over the rule of a node port that belonged to another', () => {
    const own = rule('nlb/client', 'mine');
    assert.deepEqual(input([own], [rule('nlb/client', 'other')]), {
      ...nothing,
      describe: [own],
    });
  });
});

describe('findSuccessors()', () => {
  const service = (uid: string, finalizers = [cleanupFinalizer], spec = {}) =>
    exampleService({ name: uid, uid, annotations: nlb, finalizers, spec });
  const health: Rule = {
    ...{ protocol: 'tcp', from: 10256, to: 10256, source: '10.0.0.0/24' },
    description: describeRule('nlb/health', balancerName('going')),
  };
  const client = (uid: string): Rule => ({
    ...{ protocol: 'tcp', from: 30080, to: 30080, source: '0.0.0.0/0' },
    description: describeRule('nlb/client', balancerName(uid)),
  });
  const successor = (services: readonly ReturnType<typeof service>[], inGroup: readonly Rule[]) =>
    findSuccessors({ balancer: balancerName('going'), services, placementFor: () => placement })(
      health,
      inGroup,
    )?.description;

  test('finds one that needs the same rule and has others in the group', () => {
    const services = [service('going'), service('kept')];
    assert.equal(
      successor(services, [health, client('kept')]),
      describeRule('nlb/health', 'akept'),
    );
    assert.equal(successor(services, [health]), undefined);
  });

  test('passes by who is not certain to clean up, or needs another rule', () => {
    assert.equal(successor([service('kept', [])], [client('kept')]), undefined);
    const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 };
    assert.equal(successor([service('kept', undefined, local)], [client('kept')]), undefined);
  });
});
