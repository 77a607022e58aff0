// The contract of providers, kept by the one for AWS over the real SDK against the emulator: with both kinds of balancers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleService } from '../../../src/cloud/example.ts';
import { ownerOf, runProviderContract } from '../../../src/cloud/provider.contract.ts';
import { annotation } from '../../../src/cloud/providers/aws/annotations.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { type AwsWorld, startAwsWorld } from '../../aws/aws-world.ts';
import type { Fault } from '../../aws/emulator.ts';
import { lentGroups } from '../../aws/example-account.ts';
import { put } from '../../aws/world.ts';

const unmet = [
  {
    title: 'an interval that is out of range (LBC-33)',
    service: exampleService({ annotations: { [annotation.healthInterval]: '1' } }),
    says: /healthcheck-interval" is "1", but must be a number from 5 to 300/,
  },
  {
    title: 'SCTP (LBC-19)',
    service: exampleService({
      spec: { ports: [{ protocol: 'SCTP', port: 80, targetPort: 80, nodePort: 30080 }] },
    }),
    says: /protocol SCTP/,
  },
];

runProviderContract('aws, classic', { startWorld: () => startAwsWorld(), unmet });

runProviderContract('aws, network', {
  startWorld: () => startAwsWorld({ annotations: { [annotation.type]: 'nlb' } }),
  unmet,
});

const never = new AbortController().signal;

async function withWorld(
  options: Parameters<typeof startAwsWorld>[0],
  act: (world: AwsWorld) => Promise<void>,
): Promise<void> {
  const world = await startAwsWorld(options);
  try {
    await act(world);
  } finally {
    await world.stop();
  }
}

describe('the provider "aws"', () => {
  for (const type of ['classic', 'nlb']) {
    test(`removes a ${type} balancer whose creation was never confirmed, though AWS shows it late`, () => {
      let fault: Fault = 'none';
      const faultOf = (action: string): Fault =>
        /^Create(Load|Target)/.test(action) ? fault : 'none';
      const annotations = { [annotation.type]: type };
      return withWorld({ lagMs: 100, settleSeconds: 0.3, faultOf, annotations }, async (world) => {
        const provider = await world.makeProvider();
        const service = await world.publish(exampleService(), []);
        fault = 'drop-after';
        await assert.rejects(provider.ensure({ service, nodes: world.nodes }, never));
        assert.notDeepEqual(await world.made(), []);
        fault = 'none';
        await provider.remove(ownerOf(service), service, never);
        assert.deepEqual(await world.made(), []);
      });
    });
  }

  for (const type of ['classic', 'nlb']) {
    test(`publishes a host name and no address of a ${type} balancer, whatever address was requested (LBC-17, LBC-38)`, () =>
      withWorld({ annotations: { [annotation.type]: type } }, async (world) => {
        const provider = await world.makeProvider();
        const request = exampleService({ spec: { loadBalancerIP: '192.0.2.9' } });
        const service = await world.publish(request, []);
        const ingress = await provider.ensure({ service, nodes: world.nodes }, never);
        assert.deepEqual(
          ingress.map((one) => Object.keys(one)),
          [['hostname']],
        );
        assert.match(ingress[0]?.hostname ?? '', /^[0-9a-f]+-\d+\.elb\./);
      }));
  }

  test('reads lists that come in pages', () =>
    withWorld(
      { limits: { pageSize: 1 }, annotations: { [annotation.type]: 'nlb' } },
      async (world) => {
        const provider = await world.makeProvider();
        const services = ['one', 'two', 'three'].map((name) => exampleService({ name, uid: name }));
        for (const one of services) {
          const service = await world.publish(one, []);
          await provider.ensure({ service, nodes: world.nodes }, never);
          assert.deepEqual(await world.hostsOf?.(service), ['n1', 'n2', 'n3', 'n4']);
        }
        const next = await world.makeProvider();
        for (const service of services) await next.remove(ownerOf(service), service, never);
        assert.deepEqual(await world.made(), []);
      },
    ));

  test('serves with the instances that run, whatever becomes of the others', () =>
    withWorld({ annotations: { [annotation.type]: 'nlb' } }, async (world) => {
      const provider = await world.makeProvider();
      const service = await world.publish(exampleService(), []);
      const stop = (id: string): void =>
        world.emulator.change((account) => {
          const { groups = [] } = account.instances.get(id) ?? {};
          const instances = put(account.instances, id, { id, groups, state: 'stopped' });
          return { ...account, instances };
        });
      stop('i-n1');
      await provider.ensure({ service, nodes: world.nodes }, never);
      stop('i-n2');
      await provider.ensure({ service, nodes: world.nodes }, never);
      assert.deepEqual(await world.hostsOf?.(service), ['n2', 'n3', 'n4']);
    }));
});

describe('the provider "aws" beside others', () => {
  test('leaves a balancer of the same name that is not its own', () =>
    withWorld({}, async (world) => {
      const provider = await world.makeProvider();
      const service = await world.publish(exampleService(), []);
      await provider.ensure({ service, nodes: world.nodes }, never);
      world.emulator.change((account) => ({
        ...account,
        classic: new Map([...account.classic].map(([name, one]) => [name, { ...one, tags: {} }])),
      }));
      await assert.rejects(
        provider.ensure({ service, nodes: world.nodes }, never),
        /without the tags/,
      );
      await assert.rejects(
        provider.remove(ownerOf(service), service, never),
        /DependencyViolation/,
      );
      assert.equal(world.emulator.account().classic.size, 1);
    }));

  test('hands a rule that two balancers need to the one that stays (LBC-34, LBC-36)', async () => {
    const shared = [
      { [annotation.type]: 'nlb' },
      { [annotation.securityGroups]: lentGroups.join() },
    ];
    for (const annotations of shared) {
      await withWorld({ annotations }, async (world) => {
        const provider = await world.makeProvider();
        const serve = async (name: string): Promise<Service> => {
          const service = await world.publish(exampleService({ name, uid: name }), []);
          await provider.ensure({ service, nodes: world.nodes }, never);
          return service;
        };
        const first = await serve('first');
        const second = await serve('second');
        const rulesOf = async () =>
          (await world.made()).filter((line) => line.startsWith('rule sg-nodes'));
        const before = await rulesOf();
        await provider.remove(ownerOf(first), first, never);
        await world.forget(first);
        const after = await rulesOf();
        assert.ok(after.length > 0 && after.every((line) => line.includes('second')), after.join());
        assert.ok(
          before.some((line) => line.includes('first')),
          before.join(),
        );
        await provider.remove(ownerOf(second), second, never);
        assert.deepEqual(await world.made(), []);
      });
    }
  });
});
