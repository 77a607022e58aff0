// A lan with nodes, pods behind them and clients beside them: this process stands on the lan, and so does the API server. Every
// node has a network of its own with the real proxy and announcer, and can be killed like a machine that loses its power.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import { readConnection } from '../../../src/client/read-kubeconfig.ts';
import { type ResourceClient, resourceClient } from '../../../src/client/rest.ts';
import { endpointSliceDefinition } from '../../../src/kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import { nodeDefinition } from '../../../src/kinds/node/definition.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { fairlead } from './cluster.ts';
import { ended } from './network.ts';

const gateway = '172.30.0.1';
export const pool = '172.30.200.0/24,fd30::200:0/120';

export type LanCluster = {
  readonly kubeconfig: string;
  readonly services: ResourceClient<Service>;
  readonly slices: ResourceClient<EndpointSlice>;
  readonly nodes: ResourceClient<Node>;
  /** The API server is away for good. */
  readonly killServer: () => Promise<void>;
};

export type LanNode = {
  readonly name: string;
  readonly ip: string;
  readonly macAddress: () => string;
  /** A pod with the greeter. */
  readonly startPod: (last: number) => Promise<LanPod>;
  /** It no longer reaches the API server, but everybody else. */
  readonly cutOff: () => void;
  /** Resolves when its announcer has given up what another node claims. */
  readonly gaveWay: Promise<void>;
  /** Ends its announcer in order. */
  readonly leave: () => Promise<void>;
  /** As in a power failure: everything stops at once, without notice. */
  readonly die: () => Promise<void>;
};

export type LanPod = { readonly ip: string; readonly ip6: string; readonly node: string };

export type LanClient = {
  readonly ip: string;
  readonly ip6: string;
  readonly send: (order: object) => Promise<string>;
  /** Makes it ask anew where an address is. */
  readonly forget: (address: string) => void;
  /** The hardware address at which it believes an address to be. */
  readonly believes: (address: string) => string | undefined;
};

export function makeLan(): void {
  ip([
    // With an address of its own: else it has that of one of its ports, and another one when that port goes.
    'link add lan address 02:00:00:00:00:01 type bridge',
    ...['link set lan up', 'link set lo up'],
    ...[`addr add ${gateway}/16 dev lan`, 'addr add fd30::1/64 dev lan nodad'],
  ]);
}

/** API server and service controller, with the local provider. */
export async function startLanCluster(): Promise<LanCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-lan-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const server = await started('kubeconfig in ', [
    ...['apiserver', '--bind-address', gateway, '--secure-port', '6443', '--log-level', 'error'],
    ...['--data-dir', join(directory, 'data'), '--write-kubeconfig', kubeconfig],
    ...['--service-cluster-ip-range', '10.96.0.0/16,fd00:96::/108'],
  ]);
  await started('Load balancers of', [
    ...['cloud', '--kubeconfig', kubeconfig, '--cloud-provider', 'local', '--no-leader-elect'],
    ...['--load-balancer-pool', pool, '--metrics-bind-address', '', '--log-level', 'error'],
  ]);
  const connection = await readConnection([kubeconfig]);
  const caller = { transport: createHttpTransport(connection), userAgent: 'lab' };
  return {
    kubeconfig,
    services: resourceClient(caller, serviceDefinition),
    slices: resourceClient(caller, endpointSliceDefinition),
    nodes: resourceClient(caller, nodeDefinition),
    async killServer() {
      server.kill('SIGKILL');
      await ended(server);
    },
  };
}

async function started(
  words: string,
  args: readonly string[],
  inside: readonly string[] = [],
): Promise<ChildProcess> {
  const [command = '', ...rest] = [...inside, process.execPath, fairlead, ...args];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr, { end: false });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes(words)) resolve();
    });
    child.once('exit', () => reject(new Error(`"${args[0]}" ended after saying "${text}"`)));
  });
  return child;
}

function logged({ stderr }: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve) => {
    let text = '';
    stderr?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes(words)) resolve();
    });
  });
}

/** With its Node object, proxy and announcer, and routes to the pods of the other nodes. */
export async function startNode(
  cluster: LanCluster,
  number: number,
  all: readonly number[],
): Promise<LanNode> {
  const name = `n${number}`;
  const address = `172.30.0.${10 + number}`;
  const holder = await attach(`n${number}`, [
    ...[`addr add ${address}/16 dev eth0`, `addr add fd30::${10 + number}/64 dev eth0 nodad`],
    ...['link add pods type bridge', 'link set pods up'],
    ...[`addr add 10.244.${number}.1/24 dev pods`, `addr add fd44:${number}::1/64 dev pods nodad`],
    ...all
      .filter((other) => other !== number)
      .flatMap((other) => [
        `route add 10.244.${other}.0/24 via 172.30.0.${10 + other}`,
        `route add fd44:${other}::/64 via fd30::${10 + other}`,
      ]),
  ]);
  const inside = ['nsenter', '-t', String(holder.pid), '-n'];
  const settings = ['ipv4.ip_forward=1', 'ipv4.conf.all.rp_filter=0', 'ipv6.conf.all.forwarding=1'];
  run(inside, 'sysctl', '-qw', ...settings.map((one) => `net.${one}`));
  await cluster.nodes.create({
    ...{ kind: 'Node', apiVersion: 'v1', metadata: { name }, spec: {} },
  } as Node);
  const [proxy, announcer] = [
    await started(
      'Proxy for',
      [
        ...['proxy', '--kubeconfig', cluster.kubeconfig, '--proxy-mode', 'nftables'],
        ...['--hostname-override', name, '--bind-address', address, '--log-level', 'error'],
        ...['--cluster-cidr', '10.244.0.0/16,fd44::/16', '--min-sync-period', '0'],
      ],
      inside,
    ),
    await started(
      'Announcer of',
      [
        ...['announcer', '--kubeconfig', cluster.kubeconfig, '--node-name', name],
        ...['--interface', 'eth0', '--metrics-bind-address', '', '--log-level', 'warn'],
      ],
      inside,
    ),
  ];
  return {
    name,
    ip: address,
    macAddress: () => macAddressOf(inside, 'eth0'),
    startPod: (last) => startPod(number, last, inside),
    gaveWay: logged(announcer, 'Released addresses'),
    cutOff: () => ip([`route add unreachable ${gateway}/32`], inside),
    async leave() {
      announcer.kill('SIGTERM');
      await ended(announcer);
    },
    async die() {
      // The cable first: not a packet of what dies now gets out.
      ip([`link del lan-n${number}`]);
      const parts = [proxy, announcer, holder];
      for (const part of parts) part.kill('SIGKILL');
      await Promise.all(parts.map(ended));
    },
  };
}

/** A network of its own on the lan, as long as its process lives. */
async function attach(
  name: string,
  commands: readonly string[],
  program: readonly string[] = ['sh', '-c', 'echo ready; exec sleep infinity'],
): Promise<ChildProcess> {
  const child = spawn('unshare', ['--net', ...program], { stdio: ['pipe', 'pipe', 'inherit'] });
  await firstLine(child);
  ip([
    `link add lan-${name} type veth peer name eth0 netns ${child.pid}`,
    `link set lan-${name} master lan up`,
  ]);
  const inside = ['nsenter', '-t', String(child.pid), '-n'];
  ip(['link set lo up', 'link set eth0 up', ...commands], inside);
  return child;
}

async function startPod(number: number, last: number, inside: readonly string[]): Promise<LanPod> {
  const address = `10.244.${number}.${last}`;
  const ip6 = `fd44:${number}::${last}`;
  const path = fileURLToPath(new URL('./greeter.js', import.meta.url));
  const child = spawn('unshare', ['--net', process.execPath, path, `pod-${number}-${last}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await firstLine(child);
  ip(
    [
      `link add v${last} type veth peer name eth0 netns ${child.pid}`,
      `link set v${last} master pods up`,
    ],
    inside,
  );
  ip(
    [
      ...['link set lo up', 'link set eth0 up'],
      ...[`addr add ${address}/24 dev eth0`, `addr add ${ip6}/64 dev eth0 nodad`],
      ...[`route add default via 10.244.${number}.1`, `route add ::/0 via fd44:${number}::1`],
    ],
    ['nsenter', '-t', String(child.pid), '-n'],
  );
  return { ip: address, ip6, node: `n${number}` };
}

export async function startClient(): Promise<LanClient> {
  const address = '172.30.0.100';
  const ip6 = 'fd30::100';
  const path = fileURLToPath(new URL('./visitor.js', import.meta.url));
  const child = await attach(
    'client',
    [`addr add ${address}/16 dev eth0`, `addr add ${ip6}/64 dev eth0 nodad`],
    [process.execPath, path],
  );
  const inside = ['nsenter', '-t', String(child.pid), '-n'];
  const waiting: ((line: string) => void)[] = [];
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line));
  return {
    ip: address,
    ip6,
    send: (order) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin?.write(`${JSON.stringify(order)}\n`);
      }),
    forget: (to) => void run(inside, 'ip', 'neigh', 'flush', 'to', to),
    believes: (to) => {
      const text = run(inside, 'ip', '-json', 'neigh', 'show', to);
      return (JSON.parse(text || '[]') as { lladdr?: string }[])[0]?.lladdr;
    },
  };
}

function firstLine({ stdout }: ChildProcess): Promise<void> {
  return new Promise((resolve) => stdout?.once('data', () => resolve()));
}

function macAddressOf(inside: readonly string[], link: string): string {
  const [found] = JSON.parse(run(inside, 'ip', '-json', 'link', 'show', link)) as {
    address: string;
  }[];
  return found?.address ?? '';
}

function run(inside: readonly string[], ...command: readonly string[]): string {
  const [program = '', ...args] = [...inside, ...command];
  return execFileSync(program, args, { encoding: 'utf8' });
}

function ip(lines: readonly string[], inside: readonly string[] = []): void {
  const [program = '', ...args] = [...inside, 'ip', '-batch', '-'];
  execFileSync(program, args, {
    input: `${lines.join('\n')}\n`,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}
