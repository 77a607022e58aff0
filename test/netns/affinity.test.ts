// Session affinity with real connections, by every way into a Service: a client meets one endpoint, and many without affinity.
import assert from 'node:assert/strict';
import type { Server } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { openNetlinkAccess } from '../../src/host/nftables/open-table-access.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import type { ProxyState } from '../../src/proxy/model/state.ts';
import { startIptables } from '../../src/proxy/modes/iptables/apply.ts';
import { removeRules } from '../../src/proxy/modes/iptables/apply-cleanup.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { cleanUpNftables, startNftables } from '../../src/proxy/modes/nftables/apply.ts';
import { connect, end, startPods } from './lab/meet-endpoints.ts';
import { createServiceLab, nodeIP, type ServiceLab } from './lab/service-lab.ts';
import { removeOwnLock, takeOwnLock } from './lab/xtables-lock.ts';

const podPort = 9376;
const podIPs = { A: '10.244.1.11', B: '10.244.1.12', C: '10.244.1.13' };
const stickyTimes = 12;
/** Meeting one of three endpoints alone so often by chance is less likely than one in 10^30. */
const freeTimes = 64;

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

const options = { family: 'IPv4', log: silentLog, clock: systemClock, settings: {} } as const;
const access = () => openNetlinkAccess({ namespacePath: lab.node.path });
const modes: Readonly<Record<string, readonly [() => Promise<RunningMode>, () => Promise<void>]>> =
  {
    nftables: [() => startNftables(options, access), () => cleanUpNftables('IPv4', access)],
    iptables: [
      () => startIptables({ ...options, settings: { 'network-namespace': lab.node.path } }),
      () => removeRules('IPv4', lab.node.path),
    ],
  };
const ways: Readonly<Record<string, readonly [string, number]>> = {
  'a cluster IP': ['10.96.0.20', 80],
  'a node port': [nodeIP, 30080],
  'an external IP': ['198.51.100.32', 80],
  'a balancer address': ['203.0.113.20', 80],
};

for (const [mode, [start, cleanUp]] of Object.entries(modes)) {
  test(`${mode}: a client keeps its endpoint by each way in while affinity is on (KPX-23)`, async () => {
    const running = await start();
    await running.sync(stateOf({ affinitySeconds: 10800 }), { kind: 'full' });
    const stuck = await eachWay((host, port) => endpointsMet(host, port, stickyTimes));
    await running.sync(stateOf({}), { kind: 'ports', keys: new Set(['default/web:/TCP']) });
    const free = await eachWay((host, port) => endpointsMet(host, port, freeTimes));
    await running.stop();
    await cleanUp();
    const all = (count: (n: number) => boolean, met: Readonly<Record<string, number>>) =>
      assert.ok(Object.values(met).every(count), JSON.stringify(met));
    all((n) => n === 1, stuck);
    all((n) => n > 1, free);
  });
}

function stateOf(affinity: { readonly affinitySeconds?: number }): ProxyState {
  const endpoints = Object.values(podIPs).map((ip) => ({ ip, port: podPort, isLocal: true }));
  const port = exampleServicePort({
    nodePort: 30080,
    externalIPs: ['198.51.100.32'],
    loadBalancerIPs: ['203.0.113.20'],
    clusterEndpoints: endpoints,
    ...affinity,
  });
  return exampleState([port], exampleNode({ nodeIPs: [nodeIP], nodePortAddresses: [nodeIP] }));
}

async function eachWay(
  count: (host: string, port: number) => Promise<number>,
): Promise<Readonly<Record<string, number>>> {
  const counted: Record<string, number> = {};
  for (const [way, [host, port]] of Object.entries(ways)) counted[way] = await count(host, port);
  return counted;
}

async function endpointsMet(host: string, port: number, times: number): Promise<number> {
  const met = new Set<string>();
  for (let n = 0; n < times; n += 1) {
    const { endpoint, socket } = await connect(lab, { host, port });
    met.add(endpoint);
    await end(socket);
  }
  return met.size;
}
