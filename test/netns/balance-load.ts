// `balance-load.js SCENARIO`, in a lab: a client on the lan reaches Services at addresses of the local provider. Prints what was
// measured as JSON.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseNode } from '../../src/cloud/announce/desired.ts';
import type { EndpointSlice } from '../../src/kinds/endpoint-slice/types.ts';
import type { Service } from '../../src/kinds/service/types.ts';
import {
  type LanClient,
  type LanNode,
  type LanPod,
  makeLan,
  startClient,
  startLanCluster,
  startNode,
} from './lab/lan.ts';

const [scenario = 'reach'] = process.argv.slice(2);
const namespace = 'default';
const numbers = [1, 2];
/** What has not happened by then does not happen; all that the lab started ends with it. */
const maxMs = 110_000;
setTimeout(() => {
  process.stderr.write(`"${scenario}" did not come to its end\n`);
  process.exit(1);
}, maxMs).unref();

makeLan();
const cluster = await startLanCluster();
const client = await startClient();
const nodes = await Promise.all(numbers.map((number) => startNode(cluster, number, numbers)));
const pods = await Promise.all(nodes.map((node) => node.startPod(20)));

/** Looks until it holds. */
async function until<T>(check: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    await wait(50);
  }
}

/** Made, with an address from the pool. */
async function serve(
  name: string,
  backends: readonly LanPod[],
  spec: Partial<Service['spec']> = {},
): Promise<{ readonly service: Service; readonly addresses: readonly string[] }> {
  await cluster.services.create({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { namespace, name },
    spec: {
      type: 'LoadBalancer',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 9376 }],
      ...spec,
    },
    status: { loadBalancer: {} },
  });
  for (const family of ['IPv4', 'IPv6'] as const)
    await cluster.slices.create(sliceOf(name, family, backends));
  return until(async () => {
    const service = await cluster.services.get({ namespace, name });
    const addresses = (service.status.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '');
    return addresses.length > 0 ? { service, addresses } : undefined;
  });
}

function sliceOf(
  service: string,
  addressType: 'IPv4' | 'IPv6',
  backends: readonly LanPod[],
): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      namespace,
      name: `${service}-${addressType.toLowerCase()}`,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType,
    ports: [{ name: 'http', protocol: 'TCP', port: 9376 }],
    endpoints: backends.map(({ ip, ip6, node }) => ({
      addresses: [addressType === 'IPv4' ? ip : ip6],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: node,
    })),
  };
}

const visit = (address: string): Promise<string> =>
  client.send({ do: 'visit', host: address, port: 80 });
/** Rules and announcements follow the Service a moment later. */
const answered = (address: string): Promise<string> =>
  until(async () => {
    const text = await visit(address);
    return text.startsWith('pod-') ? text : undefined;
  });
const nodeAt = ({ believes }: LanClient, address: string): LanNode | undefined =>
  nodes.find((node) => node.macAddress() === believes(address));

async function reach(): Promise<object> {
  const { addresses } = await serve('web', pods, {
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
  });
  for (const address of addresses) {
    await answered(address);
    const expected = chooseNode(address, ['n1', 'n2']);
    await until(() => (nodeAt(client, address)?.name === expected ? true : undefined));
  }
  return { addresses };
}

/** The client's address arrives, and only nodes with endpoints pass their health check (LBC-16, LBC-37, KPX-36). */
async function local(): Promise<object> {
  const seen: string[] = [];
  for (const [at, pod] of pods.entries()) {
    const { service, addresses } = await serve(`local-${at}`, [pod], {
      externalTrafficPolicy: 'Local',
    });
    const [address = ''] = addresses;
    assert.equal(await answered(address), `pod-${at + 1}-20 ${client.ip}`);
    assert.equal(nodeAt(client, address)?.name, pod.node);
    const port = service.spec.healthCheckNodePort ?? 0;
    const wanted = nodes.map(({ name }) => (name === pod.node ? '200' : '503'));
    // That one node carries connections says nothing of what the other has opened.
    await until(async () => {
      const checks = await Promise.all(
        nodes.map(({ ip }) => client.send({ do: 'check', host: ip, port })),
      );
      return checks.join() === wanted.join() ? true : undefined;
    });
    seen.push(address);
  }
  return { seen };
}

type Served = {
  readonly address: string;
  /** The node that answers, and the one with the endpoint: nothing but the address has to move. */
  readonly answering: LanNode;
  readonly remaining: LanNode;
};

/** Where the address will be is known beforehand, and so where its endpoint has to be. */
async function serveThroughOne(): Promise<Served> {
  const answering = nodes.find(({ name }) => name === chooseNode('172.30.200.1', ['n1', 'n2']));
  assert.ok(answering);
  const at = nodes.findIndex((one) => one !== answering);
  const { addresses } = await serve('web', [pods[at] as LanPod]);
  const [address = ''] = addresses;
  assert.equal(address, '172.30.200.1');
  await answered(address);
  await until(() => (nodeAt(client, address) === answering ? true : undefined));
  return { address, answering, remaining: nodes[at] as LanNode };
}

const believes = (address: string, macAddress: string): Promise<true> =>
  until(() => (client.believes(address) === macAddress ? true : undefined));

/** The node that answers is killed. */
async function failOver(): Promise<object> {
  const held = 20;
  const { address, answering, remaining } = await serveThroughOne();
  await client.send({ do: 'hold', host: address, port: 80, count: held });
  await client.send({ do: 'begin', host: address, port: 80 });
  const report = async () =>
    JSON.parse(await client.send({ do: 'report' })) as { answered: number; longest: number };
  const before = await until(async () => ((await report()).answered > 20 ? report() : undefined));
  const macAddress = remaining.macAddress();
  await answering.die();
  await believes(address, macAddress);
  const gone = await report();
  await until(async () => ((await report()).answered > gone.answered + 20 ? true : undefined));
  const after = await report();
  const alive = Number(await client.send({ do: 'echo' }));
  return {
    withoutAnswerMs: Math.round(after.longest),
    before: Math.round(before.longest),
    held,
    lost: held - alive,
  };
}

/** The announcer of the node that answers is ended in order. */
async function leave(): Promise<object> {
  const { address, answering, remaining } = await serveThroughOne();
  await answering.leave();
  await believes(address, remaining.macAddress());
  assert.match(await visit(address), /^pod-/);
  return { address };
}

/** Whether only this node answers a new client, several times in a row. */
async function findsOnly(address: string, node: LanNode): Promise<boolean> {
  for (let round = 0; round < 5; round += 1) {
    client.forget(address);
    await visit(address);
    if (nodeAt(client, address) !== node) return false;
  }
  return true;
}

/** The node that answers cannot reach the API server: the other takes over, and this one notices and stops answering. */
async function cutOff(): Promise<object> {
  const { address, answering, remaining } = await serveThroughOne();
  answering.cutOff();
  await believes(address, remaining.macAddress());
  // The client hears the claim in the same moment as the node that has to give way: for a few milliseconds both may answer.
  await answering.gaveWay;
  await until(async () => ((await findsOnly(address, remaining)) ? true : undefined));
  assert.match(await visit(address), /^pod-/);
  return { address };
}

/** Longer than two leases. */
const outageMs = 7000;

/** No node reaches the API server: the one that answers continues, and no other takes over. */
async function outage(): Promise<object> {
  const { address, answering } = await serveThroughOne();
  await cluster.killServer();
  await wait(outageMs);
  client.forget(address);
  assert.match(await visit(address), /^pod-/);
  assert.equal(nodeAt(client, address), answering);
  return { address };
}

const scenarios: Readonly<Record<string, () => Promise<object>>> = {
  reach,
  local,
  failOver,
  leave,
  cutOff,
  outage,
};
const measured = await scenarios[scenario]?.();
assert.ok(measured, `there is no scenario "${scenario}"`);
process.stdout.write(`${JSON.stringify(measured)}\n`);
process.exit(0);
