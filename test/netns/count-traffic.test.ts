// Real connections through rules in the kernel, counted from its table of connections: as many as were made, at the endpoints that
// answered them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { insideNamespace } from '../../src/host/namespaces.ts';
import { openNetlinkAccess } from '../../src/host/nftables/open-table-access.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import { startIptables } from '../../src/proxy/modes/iptables/apply.ts';
import { removeRules } from '../../src/proxy/modes/iptables/apply-cleanup.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { cleanUpNftables, startNftables } from '../../src/proxy/modes/nftables/apply.ts';
import { portTraffic } from '../../src/proxy/traffic/node-traffic.ts';
import { type CountedFlows, readFlows } from '../../src/proxy/traffic/read-flows.ts';
import { addTarget, makeTargets } from '../../src/proxy/traffic/targets.ts';
import { type Connection, connect, end, startPods } from './lab/meet-endpoints.ts';
import { createServiceLab, nodeIP, type ServiceLab } from './lab/service-lab.ts';
import { removeOwnLock, takeOwnLock } from './lab/xtables-lock.ts';

const podPort = 9376;
const podIPs = { A: '10.244.1.11', B: '10.244.1.12', C: '10.244.1.13' };
const acct = '/proc/sys/net/netfilter/nf_conntrack_acct';
const ways = [
  ['10.96.0.20', 80],
  [nodeIP, 30080],
  ['198.51.100.32', 80],
  ['203.0.113.20', 80],
] as const;
const endpoints = Object.values(podIPs).map((ip) => ({ ip, port: podPort, isLocal: true }));
const port = exampleServicePort({
  nodePort: 30080,
  externalIPs: ['198.51.100.32'],
  loadBalancerIPs: ['203.0.113.20'],
  clusterEndpoints: endpoints,
});
const state = exampleState([port], exampleNode({ nodeIPs: [nodeIP], nodePortAddresses: [nodeIP] }));

describe('traffic of Services', () => {
  let lab: ServiceLab;
  let pods: readonly Server[];
  before(async () => {
    takeOwnLock();
    lab = await createServiceLab(['10.20.0.100'], Object.values(podIPs));
    pods = await startPods(lab, podIPs, podPort);
  });
  after(() => {
    for (const pod of pods) pod.close();
    lab.release();
    removeOwnLock();
  });

  const modes = modesOf(() => lab);
  const setAccounting = (value: '0' | '1') =>
    insideNamespace(lab.node.path, () => writeFileSync(acct, value));
  const count = (wait: () => Promise<void>): Promise<CountedFlows> => {
    const targets = makeTargets([nodeIP]);
    addTarget(targets, port, state.node);
    const { path: namespacePath } = lab.node;
    return readFlows({ families: ['IPv4'], targets, namespacePath, now: Date.now, wait });
  };

  for (const [mode, [start, cleanUp]] of Object.entries(modes)) {
    test(`${mode}: connections and bytes are those that were sent`, async () => {
      const running = await start();
      await running.sync(state, { kind: 'full' });
      setAccounting('1');
      const before = await count(async () => {});
      const atFirst = sum(before, 'open');
      const met: string[] = [];
      let open: readonly Connection[] = [];
      const counted = await count(async () => {
        const made: Connection[] = [];
        for (const [host, number] of ways) {
          for (let n = 0; n < 8; n += 1) made.push(await connect(lab, { host, port: number }));
        }
        met.push(...made.map(({ endpoint }) => podIPs[endpoint as keyof typeof podIPs]));
        for (const { socket } of made.slice(0, 20)) await end(socket);
        open = made.slice(20);
      });
      assert.equal(sum(counted, 'opened'), 32);
      assert.equal(sum(counted, 'open') - atFirst, 12);
      assert.deepEqual(openedByEndpoint(counted), tally(met));
      assert.equal(counted.isAccounting, true);
      // A letter from each pod, and headers of at least 40 bytes in each direction.
      assert.ok(sum(counted, 'bytesIn') >= 32 * 40 && sum(counted, 'bytesOut') >= 32 * 41);
      const ports = [{ family: 'IPv4', port }] as const;
      const [traffic] = portTraffic({ ports, counts: counted.rows });
      assert.ok(traffic?.endpoints.every(({ isEligible }) => isEligible));
      for (const { socket } of open) await end(socket);
      await running.stop();
      await cleanUp();
    });
  }

  test('connections are counted without accounting, and said to have no bytes', async () => {
    setAccounting('0');
    const [start, cleanUp] = modes.nftables;
    const running = await start();
    await running.sync(state, { kind: 'full' });
    const made: Connection[] = [];
    const counted = await count(async () => {
      for (let n = 0; n < 5; n += 1)
        made.push(await connect(lab, { host: '10.96.0.20', port: 80 }));
    });
    assert.equal(counted.isAccounting, false);
    assert.deepEqual([sum(counted, 'opened'), sum(counted, 'bytesOut')], [5, 0]);
    assert.ok(sum(counted, 'uncounted') >= 5);
    for (const { socket } of made) await end(socket);
    await running.stop();
    await cleanUp();
  });
});

type StartedMode = readonly [() => Promise<RunningMode>, () => Promise<void>];

const options = { family: 'IPv4', log: silentLog, clock: systemClock, settings: {} } as const;

function modesOf(lab: () => ServiceLab): Readonly<Record<'nftables' | 'iptables', StartedMode>> {
  const access = () => openNetlinkAccess({ namespacePath: lab().node.path });
  return {
    nftables: [() => startNftables(options, access), () => cleanUpNftables('IPv4', access)],
    iptables: [
      () => startIptables({ ...options, settings: { 'network-namespace': lab().node.path } }),
      () => removeRules('IPv4', lab().node.path),
    ],
  };
}

type Count = 'opened' | 'open' | 'bytesIn' | 'bytesOut' | 'uncounted';

const sum = ({ rows }: CountedFlows, what: Count): number =>
  rows.reduce((total, row) => total + row[what], 0);

function openedByEndpoint({ rows }: CountedFlows): Readonly<Record<string, number>> {
  return Object.fromEntries(
    rows
      .filter(({ opened }) => opened > 0)
      .map(({ ip, opened }) => [ip, opened])
      .sort(),
  );
}

function tally(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => [name, names.filter((one) => one === name).length]),
  );
}
