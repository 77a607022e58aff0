// Each scheduler of ipvs mode is seen to choose as it says, with real connections, in a scenario in which another one chooses
// differently.
import assert from 'node:assert/strict';
import type { Server, Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { type Ipvs, openIpvs } from '../../src/host/netlink/ipvs.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import type { ProxyState } from '../../src/proxy/model/state.ts';
import { startIpvs } from '../../src/proxy/modes/ipvs/apply.ts';
import { schedulers } from '../../src/proxy/modes/ipvs/settings.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import {
  type Connection,
  connect as connectIn,
  end,
  startPods,
} from '../netns/lab/meet-endpoints.ts';
import { createServiceLab, nodeIP, type ServiceLab } from '../netns/lab/service-lab.ts';
import { loadModules } from './load-modules.ts';

/** A connection that is lost would be waited for without end. */
const timeoutMs = 300_000;
const podPort = 9376;
const podIPs: Readonly<Record<string, string>> = {
  A: '10.244.1.11',
  B: '10.244.1.12',
  C: '10.244.1.13',
};
const clientIPs = [100, 101, 102, 103, 104, 105].map((last) => `10.20.0.${last}`);
const [firstClient = ''] = clientIPs;

let lab: ServiceLab;
/** A second one like it, whose kernel has seen no connection of the first. */
let other: ServiceLab;
let ipvs: Ipvs;
let modes: RunningMode[] = [];
let servers: readonly Server[];
const open = new Set<Socket>();
const observed = new Map<string, string>();

before(async () => {
  loadModules();
  lab = await createServiceLab(clientIPs, Object.values(podIPs));
  other = await createServiceLab(clientIPs, Object.values(podIPs));
  ipvs = await openIpvs({ namespacePath: lab.node.path });
  servers = (await Promise.all([lab, other].map((l) => startPods(l, podIPs, podPort)))).flat();
});
afterEach(closeAll);
after(async () => {
  for (const server of servers) server.close();
  await ipvs.close();
  for (const { release } of [lab, other]) release();
});

/** What a scenario saw: the endpoints in the order of the connections, or how many of them there were. */
type Scenario = (scheduler: string) => Promise<string>;
type Case = {
  readonly scheduler: string;
  readonly choice: string;
  readonly scenario: Scenario;
  readonly sees: string;
  /** Schedulers that choose otherwise in this scenario. */
  readonly unlike: Readonly<Record<string, string>>;
};

const cases: readonly Case[] = [
  {
    scheduler: 'rr',
    choice: 'all endpoints in turn, however busy one is',
    scenario: sixWhileOneIsBusy,
    sees: 'AABBCC',
    unlike: { lc: 'BBBCCC' },
  },
  {
    scheduler: 'lc',
    choice: 'the endpoint with the fewest open connections, whatever its weight',
    scenario: fourWhileTheHeavyOneIsBusy,
    sees: 'BBCC',
    unlike: { wlc: 'AABC' },
  },
  {
    scheduler: 'wlc',
    choice: 'the endpoint with the fewest open connections for its weight',
    scenario: sixWhileOneIsBusy,
    sees: 'BBBCCC',
    unlike: { rr: 'AABBCC' },
  },
  {
    scheduler: 'wrr',
    choice: 'all endpoints in turn, heavy ones more often',
    scenario: sixWithAHeavyOne,
    sees: 'AAAABC',
    unlike: { rr: 'AABBCC' },
  },
  {
    scheduler: 'sed',
    choice: 'the shortest expected delay: a heavy endpoint that is busy before an idle one',
    scenario: fourWhileTheHeavyOneIsBusy,
    sees: 'AAAA',
    unlike: { nq: 'AABC' },
  },
  {
    scheduler: 'sed',
    choice: 'an idle endpoint among equals',
    scenario: sixWhileOneIsBusy,
    sees: 'BBBCCC',
    unlike: { rr: 'AABBCC' },
  },
  {
    scheduler: 'nq',
    choice: 'an idle endpoint before all others, then the shortest expected delay',
    scenario: fourWhileTheHeavyOneIsBusy,
    sees: 'AABC',
    unlike: { sed: 'AAAA', lc: 'BBCC' },
  },
  {
    scheduler: 'sh',
    choice: 'one endpoint for a source address, over all its ports',
    scenario: fromSixSources,
    sees: '1 of 3',
    unlike: { rr: '3 of 3', dh: '1 of 1' },
  },
  {
    scheduler: 'dh',
    choice: 'one endpoint for a destination address, for all clients',
    scenario: toSixDestinations,
    sees: '1 of 3',
    unlike: { rr: '3 of 3', sh: '2 of 2' },
  },
  {
    scheduler: 'mh',
    choice: 'one endpoint for a source address and port',
    scenario: fromSixPorts,
    sees: '1 of 3',
    unlike: { rr: '2 of 3', sh: '1 of 1' },
  },
  {
    scheduler: 'lblc',
    choice: 'the last endpoint of a destination until it is busy and another idle',
    scenario: afterTheFirstIsIdleAgain,
    sees: 'aab b',
    unlike: { lblcr: 'aab a', rr: 'abc a' },
  },
  {
    scheduler: 'lblcr',
    choice: 'the least busy of a growing set of endpoints for a destination',
    scenario: afterTheFirstIsIdleAgain,
    sees: 'aab a',
    unlike: { lblc: 'aab b', rr: 'abc a' },
  },
];

test('each scheduler that the flag takes has a case (IVS-03)', () => {
  assert.deepEqual([...new Set(cases.map((c) => c.scheduler))].sort(), schedulers.toSorted());
});

for (const { scheduler, choice, scenario, sees, unlike } of cases) {
  test(`${scheduler} chooses ${choice} (IVS-03)`, { timeout: timeoutMs }, async () => {
    const seen: Record<string, string> = {};
    for (const name of [scheduler, ...Object.keys(unlike)]) {
      seen[name] = await observe(scenario, name);
    }
    assert.deepEqual(seen, { [scheduler]: sees, ...unlike });
    assert.ok(!Object.values(unlike).includes(sees), 'a control that is none');
  });
}

/** Each scheduler goes through a scenario once, however many cases compare with it. */
async function observe(scenario: Scenario, scheduler: string): Promise<string> {
  const key = `${scenario.name} ${scheduler}`;
  const seen = observed.get(key) ?? (await scenario(scheduler));
  observed.set(key, seen);
  await closeAll();
  return seen;
}

/** Three connections stand to A when B and C come; then come six that stay. */
async function sixWhileOneIsBusy(scheduler: string): Promise<string> {
  const [ip] = await serveBusy(scheduler);
  return inOrder(await connectTimes(6, ip));
}

/** As above with an A of weight 8. The mode gives all the same weight, with which sed and nq, and lc and wlc, cannot be distinguished. */
async function fourWhileTheHeavyOneIsBusy(scheduler: string): Promise<string> {
  const [ip] = await serveBusy(scheduler);
  await setWeightOfA(ip, 8);
  return inOrder(await connectTimes(4, ip));
}

async function sixWithAHeavyOne(scheduler: string): Promise<string> {
  const [ip] = await serve(scheduler, 'ABC');
  await setWeightOfA(ip, 4);
  return inOrder(await connectTimes(6, ip));
}

/** How many endpoints a client meets, of how many that all meet together. */
async function fromSixSources(scheduler: string): Promise<string> {
  const [ip] = await serve(scheduler, 'ABC');
  return countEach(
    clientIPs,
    () => [1, 2, 3],
    (from) => connect({ from, ip }),
  );
}

async function toSixDestinations(scheduler: string): Promise<string> {
  const ips = await serve(scheduler, 'ABC', { addresses: 6 });
  return countEach(
    ips,
    () => clientIPs.slice(0, 3),
    (ip, from) => connect({ from, ip }),
  );
}

/** An endpoint takes a port of a client only once, so that the second connection of each port is made in the other lab, where one more came before. */
async function fromSixPorts(scheduler: string): Promise<string> {
  const [ip] = await serve(scheduler, 'ABC');
  const [otherIP] = await serve(scheduler, 'ABC', { on: other });
  await connect({ from: firstClient, ip: otherIP, on: other });
  const ways = [
    { ip, on: lab },
    { ip: otherIP, on: other },
  ];
  const ports = [2001, 2002, 2003, 2004, 2005, 2006];
  return countEach(
    ports,
    () => ways,
    (port, way) => connect({ from: firstClient, port, ...way }),
  );
}

/** Three connections; then those that met the first endpoint end, and one more comes. Letters by first appearance. */
async function afterTheFirstIsIdleAgain(scheduler: string): Promise<string> {
  const [ip] = await serve(scheduler, 'ABC');
  const three = await connectTimes(3, ip);
  for (const { endpoint, socket } of three)
    if (endpoint === three[0]?.endpoint) await endOpen(socket);
  const names = [...three, ...(await connectTimes(1, ip))].map(({ endpoint }) => endpoint);
  const letters = names.map((name) => 'abc'[[...new Set(names)].indexOf(name)]).join('');
  return `${letters.slice(0, 3)} ${letters.slice(3)}`;
}

async function countEach<A, B>(
  all: readonly A[],
  others: () => readonly B[],
  meet: (one: A, other: B) => Promise<Connection>,
): Promise<string> {
  const met: ReadonlySet<string>[] = [];
  for (const one of all) {
    const names = new Set<string>();
    for (const other of others()) names.add((await meet(one, other)).endpoint);
    met.push(names);
  }
  const together = new Set(met.flatMap((names) => [...names]));
  return `${Math.max(...met.map(({ size }) => size))} of ${together.size}`;
}

let lastNetwork = 0;

/** A Service at addresses of its own, so that no endpoint has been met by anybody. Returns the addresses. */
async function serve(
  scheduler: string,
  endpoints: string,
  { addresses = 1, on = lab }: { readonly addresses?: number; readonly on?: ServiceLab } = {},
): Promise<readonly [string, ...string[]]> {
  lastNetwork += 1;
  const ips = Array.from({ length: addresses }, (_, n) => `10.96.${lastNetwork}.${n + 1}`);
  const settings = { 'ipvs-scheduler': scheduler };
  const options = { family: 'IPv4', log: silentLog, clock: systemClock, settings } as const;
  const mode = await startIpvs(options, { namespacePath: on.node.path });
  modes.push(mode);
  await mode.sync(stateOf(ips, endpoints), { kind: 'full' });
  return [ips[0] ?? '', ...ips.slice(1)];
}

async function serveBusy(scheduler: string): Promise<readonly [string, ...string[]]> {
  const ips = await serve(scheduler, 'A');
  await connectTimes(3, ips[0]);
  const keys = new Set(['default/web:/TCP']);
  await modes[0]?.sync(stateOf(ips, 'ABC'), { kind: 'ports', keys });
  return ips;
}

function stateOf([clusterIP = '', ...externalIPs]: readonly string[], names: string): ProxyState {
  const endpoints = [...names].map((name) => ({
    ip: podIPs[name] ?? '',
    port: podPort,
    isLocal: true,
  }));
  const port = exampleServicePort({ clusterIP, externalIPs, clusterEndpoints: endpoints });
  return exampleState([port], exampleNode({ nodeIPs: [nodeIP], nodePortAddresses: [nodeIP] }));
}

async function setWeightOfA(ip: string, weight: number): Promise<void> {
  const service = { address: ip, protocol: 'TCP', port: 80 } as const;
  await ipvs.changeDestination(service, { address: podIPs.A ?? '', port: podPort, weight });
}

const inOrder = (met: readonly Connection[]): string =>
  met
    .map(({ endpoint }) => endpoint)
    .sort()
    .join('');

/** One after another: each is chosen with those before it standing. */
async function connectTimes(times: number, ip: string): Promise<readonly Connection[]> {
  const met: Connection[] = [];
  while (met.length < times) met.push(await connect({ from: firstClient, ip }));
  return met;
}

async function connect(way: {
  readonly from: string;
  readonly ip: string;
  readonly port?: number;
  readonly on?: ServiceLab;
}): Promise<Connection> {
  const { from, ip: host, port: fromPort, on = lab } = way;
  const port = fromPort === undefined ? {} : { fromPort };
  const connection = await connectIn(on, { host, port: 80, from, ...port });
  open.add(connection.socket);
  return connection;
}

async function endOpen(socket: Socket): Promise<void> {
  open.delete(socket);
  await end(socket);
}

async function closeAll(): Promise<void> {
  await Promise.all([...open].map(endOpen));
  await Promise.all(modes.map((mode) => mode.stop()));
  modes = [];
}
