// The emulator, asked by the real SDK: what tests of the provider rely on.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type AwsCalls, openSdk } from '../../../src/cloud/providers/aws/apply-sdk.ts';
import { codeOf, isPassing } from '../../../src/cloud/providers/aws/errors.ts';
import { setTestCredentials } from '../../aws/aws-world.ts';
import { type Emulator, type Fault, startEmulator } from '../../aws/emulator.ts';
import { exampleAccount } from '../../aws/example-account.ts';

let emulator: Emulator;
let aws: AwsCalls;
let close: () => void;
let fault: Fault = 'none';

before(async () => {
  setTestCredentials();
  emulator = await startEmulator({
    account: exampleAccount(),
    limits: { pageSize: 2, rulesPerGroup: 3 },
    faultOf: () => fault,
  });
  const { endpoint } = emulator;
  const sdk = openSdk({ endpoint, region: 'test-1', maxAttempts: 1, observe: () => {} });
  aws = sdk.calls(new AbortController().signal);
  close = sdk.close;
});
after(async () => {
  close();
  await emulator.stop();
});
beforeEach(() => emulator.change(exampleAccount));

async function refusal(act: Promise<unknown>): Promise<string> {
  try {
    await act;
  } catch (error) {
    return codeOf(error);
  }
  return 'done';
}

const listener = { Protocol: 'TCP', LoadBalancerPort: 80, InstancePort: 30080 };
const makeClassic = (parts: object = {}) =>
  aws.classicCreateLoadBalancer({
    LoadBalancerName: 'one',
    Listeners: [listener],
    Subnets: ['subnet-a-public'],
    SecurityGroups: ['sg-lent1'],
    ...parts,
  });
const grant = (...ports: readonly number[]) =>
  aws.authorizeSecurityGroupIngress({
    GroupId: 'sg-lent1',
    IpPermissions: ports.map((port) => ({
      IpProtocol: 'tcp',
      FromPort: port,
      ToPort: port,
      IpRanges: [{ CidrIp: '192.0.2.0/24' }],
    })),
  });

describe('classic balancers', () => {
  test('are described as they were made', async () => {
    await makeClassic({ Tags: [{ Key: 'a', Value: '<&>' }] });
    const { LoadBalancerDescriptions: [found] = [] } = await aws.classicDescribeLoadBalancers({});
    assert.deepEqual(found?.ListenerDescriptions?.[0]?.Listener, {
      ...listener,
      InstanceProtocol: 'TCP',
    });
    const { TagDescriptions: [tags] = [] } = await aws.classicDescribeTags({
      LoadBalancerNames: ['one'],
    });
    assert.deepEqual(tags?.Tags, [{ Key: 'a', Value: '<&>' }]);
  });

  test('are made once, and deleted without complaint when they are gone', async () => {
    await makeClassic();
    assert.equal(await refusal(makeClassic()), 'done');
    assert.equal(await refusal(makeClassic({ Scheme: 'internal' })), 'DuplicateLoadBalancerName');
    await aws.classicDeleteLoadBalancer({ LoadBalancerName: 'one' });
    assert.equal(await refusal(aws.classicDeleteLoadBalancer({ LoadBalancerName: 'one' })), 'done');
    const names = { LoadBalancerNames: ['one'] };
    assert.equal(await refusal(aws.classicDescribeLoadBalancers(names)), 'LoadBalancerNotFound');
  });

  test('are refused with parts that make no sense', async () => {
    const wrong: readonly [object, string][] = [
      [{ LoadBalancerName: 'a.b' }, 'ValidationError'],
      [{ Subnets: ['subnet-x'] }, 'SubnetNotFound'],
      [{ Subnets: ['subnet-a-public', 'subnet-a-private'] }, 'InvalidConfigurationRequest'],
      [{ SecurityGroups: ['sg-x'] }, 'InvalidSecurityGroup'],
      [
        { Listeners: [{ ...listener, Protocol: 'HTTP', InstanceProtocol: 'TCP' }] },
        'InvalidConfigurationRequest',
      ],
      [
        { Listeners: [{ ...listener, Protocol: 'SSL', InstanceProtocol: 'TCP' }] },
        'CertificateNotFound',
      ],
    ];
    for (const [parts, code] of wrong) assert.equal(await refusal(makeClassic(parts)), code);
    assert.equal(emulator.account().classic.size, 0);
  });
});

describe('security groups', () => {
  test('hold a rule once, and take all of a call or nothing', async () => {
    await grant(1);
    assert.equal(await refusal(grant(2, 1)), 'InvalidPermission.Duplicate');
    assert.equal(emulator.account().groups.get('sg-lent1')?.permissions.size, 1);
    assert.equal(await refusal(grant(2, 3, 4)), 'RulesPerSecurityGroupLimitExceeded');
  });

  test('stay as long as something needs them', async () => {
    const remove = () => refusal(aws.deleteSecurityGroup({ GroupId: 'sg-lent1' }));
    await makeClassic();
    assert.equal(await remove(), 'DependencyViolation');
    await aws.classicDeleteLoadBalancer({ LoadBalancerName: 'one' });
    assert.equal(await remove(), 'done');
    assert.equal(await remove(), 'InvalidGroup.NotFound');
  });

  test('come in pages', async () => {
    const first = await aws.describeSecurityGroups({});
    assert.equal(first.SecurityGroups?.length, 2);
    const NextToken = first.NextToken ?? '';
    const second = await aws.describeSecurityGroups({ NextToken });
    assert.equal(second.SecurityGroups?.length, 2);
    assert.equal(second.NextToken, undefined);
  });
});

describe('network balancers', () => {
  const makeGroup = async (Protocol: 'TCP' | 'UDP') => {
    const { TargetGroups } = await aws.createTargetGroup({
      ...{ Name: `group-${Protocol}`, Protocol, Port: 30080, VpcId: 'vpc-1' },
    });
    return TargetGroups?.[0]?.TargetGroupArn ?? '';
  };
  const makeNetwork = async () => {
    const { LoadBalancers } = await aws.networkCreateLoadBalancer({
      ...{ Name: 'net', Type: 'network', Subnets: ['subnet-a-public'] },
    });
    return LoadBalancers?.[0]?.LoadBalancerArn ?? '';
  };
  const listen = (LoadBalancerArn: string, TargetGroupArn: string) =>
    aws.createListener({
      LoadBalancerArn,
      Port: 80,
      Protocol: 'TCP',
      DefaultActions: [{ Type: 'forward', TargetGroupArn }],
    });

  test('hold their target groups, and lead to fitting ones only', async () => {
    const [balancer, tcp, udp] = [
      await makeNetwork(),
      await makeGroup('TCP'),
      await makeGroup('UDP'),
    ];
    assert.equal(await refusal(listen(balancer, udp)), 'IncompatibleProtocols');
    await listen(balancer, tcp);
    assert.equal(await refusal(listen(balancer, tcp)), 'DuplicateListener');
    const remove = () => refusal(aws.deleteTargetGroup({ TargetGroupArn: tcp }));
    assert.equal(await remove(), 'ResourceInUse');
    await aws.networkDeleteLoadBalancer({ LoadBalancerArn: balancer });
    assert.equal(await remove(), 'done');
  });

  test('show a target that leaves as draining', async () => {
    const TargetGroupArn = await makeGroup('TCP');
    const Targets = [{ Id: 'i-n1' }];
    await aws.registerTargets({ TargetGroupArn, Targets });
    await aws.deregisterTargets({ TargetGroupArn, Targets });
    const { TargetHealthDescriptions: [found] = [] } = await aws.describeTargetHealth({
      TargetGroupArn,
    });
    assert.equal(found?.TargetHealth?.State, 'draining');
  });
});

describe('failures', () => {
  const faults: readonly [Fault, number][] = [
    ['throttle', 0],
    ['fail', 0],
    ['fail-after', 1],
    ['drop-after', 1],
  ];
  for (const [kind, made] of faults) {
    test(`${kind}: passes, and has ${made === 0 ? 'done nothing' : 'done the work'}`, async () => {
      fault = kind;
      await assert.rejects(makeClassic(), isPassing).finally(() => {
        fault = 'none';
      });
      assert.equal(emulator.account().classic.size, made);
    });
  }
});
