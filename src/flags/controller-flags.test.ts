import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { allControllers } from '../controllers/all.ts';
import { formatCidr } from '../ip/cidr.ts';
import {
  addControllerFlags,
  type ControllerFlags,
  controllerSettings,
} from './controller-flags.ts';
import { addElectionFlags, type ElectionFlags, leaseTiming } from './election-flags.ts';
import { listenAddress } from './metrics-flags.ts';

type Flags = ControllerFlags & ElectionFlags;

function parse(line: string): Flags {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addElectionFlags(addControllerFlags(command), { namespace: 'kube-system', name: 'lease' });
  return command.parse(line.split(' ').filter(Boolean), { from: 'user' }).opts<Flags>();
}

test('without flags all controllers run as usual', () => {
  const flags = parse('');
  assert.equal(flags.controllers, allControllers);
  const settings = controllerSettings(flags);
  assert.equal(settings.maxEndpointsPerSlice, 100);
  assert.equal(settings.mirroringMaxEndpointsPerSubset, 1000);
  assert.equal(settings.concurrentGarbageCollectorSyncs, 20);
  assert.equal(settings.nodeMonitorGraceMs, 50_000);
  assert.equal(settings.endpointUpdatesBatchMs, 20);
  const timing = { durationMs: 15_000, renewWithinMs: 10_000, everyMs: 2000 };
  assert.deepEqual(leaseTiming(flags), timing);
  assert.equal(flags.leaderElect, true);
});

test('the lease can be done without, in either spelling', () => {
  const cases = { '--leader-elect': true, '--leader-elect=true': true, '--no-leader-elect': false };
  for (const [line, wanted] of Object.entries({ ...cases, '--leader-elect=false': false })) {
    assert.equal(parse(line).leaderElect, wanted, line);
  }
  assert.throws(() => parse('--leader-elect=maybe'), /neither true nor false/);
});

test('flags become settings', () => {
  const settings = controllerSettings(
    parse(
      '--max-endpoints-per-slice 7 --concurrent-rc-syncs 3 --endpointslice-updates-batch-period 1.5s --node-monitor-grace-period 40s --concurrent-replicaset-syncs 9',
    ),
  );
  assert.equal(settings.maxEndpointsPerSlice, 7);
  assert.equal(settings.concurrentReplicationControllerSyncs, 3);
  assert.equal(settings.concurrentReplicaSetSyncs, 9);
  assert.equal(settings.endpointSliceUpdatesBatchMs, 1500);
  assert.equal(settings.nodeMonitorGraceMs, 40_000);
});

test('nodes get ranges for pods when flags say of which', () => {
  assert.equal(controllerSettings(parse('')).nodeIpam, undefined);
  assert.equal(controllerSettings(parse('--cluster-cidr 10.244.0.0/16')).nodeIpam, undefined);
  const line = '--allocate-node-cidrs --cluster-cidr 10.244.0.0/16,fd44::/48';
  const { nodeIpam } = controllerSettings(parse(`${line} --node-cidr-mask-size-ipv4=26`));
  assert.deepEqual(nodeIpam?.clusterCidrs.map(formatCidr), ['10.244.0.0/16', 'fd44::/48']);
  assert.deepEqual(nodeIpam?.maskSizes, { IPv4: 26, IPv6: 64 });
  assert.equal(
    controllerSettings(parse(`${line} --allocate-node-cidrs=false`)).nodeIpam,
    undefined,
  );
});

const unfitting: readonly (readonly [string, RegExp])[] = [
  ['--allocate-node-cidrs=true', /--cluster-cidr is missing/],
  [
    '--allocate-node-cidrs=true --cluster-cidr 10.244.0.0/25',
    /--node-cidr-mask-size-ipv4 must be at least 25/,
  ],
  [
    '--allocate-node-cidrs=true --cluster-cidr fd44::/40',
    /--node-cidr-mask-size-ipv6 must be at most 56/,
  ],
  ['--cluster-cidr 10.244.0.0/16,10.245.0.0/16', /of different families/],
  ['--cluster-cidr pods', /is not a network/],
];
for (const [line, message] of unfitting) {
  test(`${line} is refused`, () => {
    assert.throws(() => controllerSettings(parse(line)), message);
  });
}

test('controllers are chosen by name', () => {
  const without = parse('--controllers *,-scheduler,-podgc').controllers.map(({ name }) => name);
  assert.equal(without.length, allControllers.length - 2);
  assert.ok(
    !without.includes('scheduler') && !without.includes('pod-garbage-collector-controller'),
  );
  assert.deepEqual(
    parse('--controllers endpoint').controllers.map(({ name }) => name),
    ['endpoints-controller'],
  );
});

for (const [line, message] of [
  ['--max-endpoints-per-slice 0', /not a whole number from 1 to 1000/],
  ['--max-endpoints-per-slice 1001', /not a whole number from 1 to 1000/],
  ['--mirroring-max-endpoints-per-subset 1001', /not a whole number from 1 to 1000/],
  ['--concurrent-service-endpoint-syncs 51', /not a whole number from 1 to 50/],
  ['--endpoint-updates-batch-period soon', /not a duration/],
  ['--node-monitor-grace-period 1ms', /too short/],
  [
    '--controllers *,-cron',
    /"-cron" is not in the list of known controllers: endpoints-controller, /,
  ],
] as const) {
  test(`${line} is refused`, () => {
    assert.throws(() => parse(line), message);
  });
}

for (const [line, message] of [
  ['--leader-elect-lease-duration 10s', /lease-duration \(10s\) must be longer than .*\(10s\)/],
  [
    '--leader-elect-retry-period 9s',
    /renew-deadline \(10s\) must be longer than 1.2 times .*\(9s\)/,
  ],
] as const) {
  test(`${line} is refused`, () => {
    assert.throws(() => leaseTiming(parse(line)), message);
  });
}

test('listenAddress() takes an IP and a port', () => {
  assert.deepEqual(listenAddress('127.0.0.1:10257'), { host: '127.0.0.1', port: 10257 });
  assert.deepEqual(listenAddress('[::1]:0'), { host: '::1', port: 0 });
  assert.equal(listenAddress(''), undefined);
  for (const text of ['localhost:1', '127.0.0.1', '::1:80', '127.0.0.1:70000', '[127.0.0.1]:80']) {
    assert.throws(() => listenAddress(text), /is not an IP and port/, text);
  }
});
