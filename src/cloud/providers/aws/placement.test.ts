import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleNode } from '../../example.ts';
import { ProviderSettingsError } from '../../provider.ts';
import { instanceId, nodeGroupIds, targetInstanceIds } from './instances.ts';
import { readOptions } from './options.ts';
import { choosePlacement, chooseSubnets, type Subnet } from './subnets.ts';

const subnet = (id: string, zone: string, tags = {}, vpcId = 'vpc-1'): Subnet => ({
  ...{ id, zone, tags, vpcId, cidr: '10.0.0.0/24' },
});
const routes = [
  { subnetIds: ['s-public', 's-marked'], isMain: false, hasInternetGateway: true },
  { subnetIds: [], isMain: true, hasInternetGateway: false },
];

describe('chooseSubnets()', () => {
  const ids = (subnets: readonly Subnet[], isInternal: boolean): readonly string[] =>
    chooseSubnets(subnets, routes, isInternal).map(({ id }) => id);
  const all = [
    subnet('s-private', 'a'),
    subnet('s-public', 'a'),
    subnet('s-marked', 'a', { 'kubernetes.io/role/elb': '1' }),
    subnet('s-z', 'b'),
    subnet('s-b', 'b'),
  ];
  test('takes one of each zone, marked ones first and then by id', () => {
    assert.deepEqual(ids(all, false), ['s-marked']);
    assert.deepEqual(ids(all, true), ['s-b', 's-marked']);
  });
});

describe('choosePlace() says what is wrong with the network', () => {
  const placement = (subnets: readonly Subnet[]) => () =>
    choosePlacement({ cluster: 'lab', subnets, routes, isInternal: false });
  test('no subnet', () => assert.throws(placement([]), /kubernetes\.io\/cluster\/lab/));
  test('no public subnet', () => assert.throws(placement([subnet('s', 'a')]), /internet gateway/));
  test('two VPCs', () => {
    assert.throws(placement([subnet('s', 'a'), subnet('t', 'a', {}, 'vpc-2')]), /--aws-vpc/);
  });
});

describe('instances', () => {
  const ids: readonly [string, string | undefined][] = [
    ['aws:///eu-1a/i-0123abc', 'i-0123abc'],
    ['aws://eu-1a/i-0123abc', 'i-0123abc'],
    ['i-0123abc', 'i-0123abc'],
    ['aws:///eu-1a/fargate-1', undefined],
    ['gce://project/zone/i-1x-y', undefined],
    ['', undefined],
  ];
  for (const [providerID, want] of ids) {
    test(`instanceId() of "${providerID}"`, () => {
      assert.equal(instanceId(exampleNode('n', '10.0.0.1', providerID)), want);
    });
  }

  test('targetInstanceIds() takes nodes with all labels (LBC-35)', () => {
    const labelled = (name: string, labels: Record<string, string>) => {
      const node = exampleNode(name, '10.0.0.1', `i-${name}`);
      return { ...node, metadata: { ...node.metadata, labels } };
    };
    const nodes = [labelled('a', { x: '1', y: '2' }), labelled('b', { x: '1' }), labelled('c', {})];
    assert.deepEqual(targetInstanceIds(nodes, {}), ['i-a', 'i-b', 'i-c']);
    assert.deepEqual(targetInstanceIds(nodes, { x: '1' }), ['i-a', 'i-b']);
    assert.deepEqual(targetInstanceIds(nodes, { x: '1', y: '' }), ['i-a']);
    assert.deepEqual(targetInstanceIds(nodes, { x: '2' }), []);
  });

  test('nodeGroupIds() takes the one group with the tag of each instance', () => {
    const tagged = new Set(['sg-1', 'sg-2']);
    const instance = (...groupIds: string[]) => [{ id: 'i-1', groupIds, isRunning: true }];
    assert.deepEqual(nodeGroupIds(instance('sg-0', 'sg-1'), tagged), ['sg-1']);
    assert.throws(() => nodeGroupIds(instance('sg-0'), tagged), /i-1: none of/);
    assert.throws(() => nodeGroupIds(instance('sg-1', 'sg-2'), tagged), /i-1: 2 of/);
  });
});

describe('readOptions()', () => {
  test('of no flags', () => {
    assert.deepEqual(readOptions({}), { maxAttempts: 3, settleMs: 10_000 });
  });
  const wrong: readonly [string, string][] = [
    ['awsEndpoint', 'localhost:4566'],
    ['awsVpc', 'mine'],
    ['awsMaxAttempts', '0'],
    ['awsSettleSeconds', '301'],
  ];
  for (const [key, value] of wrong) {
    test(`refuses ${key}=${value}`, () => {
      assert.throws(() => readOptions({ [key]: value }), ProviderSettingsError);
    });
  }
});
