// Traffic as `fairlead top` shows it: real connections through the rules of each mode, from the nodes of an `up` to its pods.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ServiceTraffic, TopServices } from '../../src/top/top-services.ts';
import {
  endWith,
  type Identity,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 300_000;

/** Says its name; a client that sends `stream` gets 3 MB a second. */
const server = `
require('net').createServer((socket) => {
  socket.on('error', () => {});
  socket.write(process.env.HOSTNAME || 'pod');
  socket.on('data', (data) => {
    if (String(data) === 'stream') setInterval(() => socket.write(Buffer.alloc(30000)), 10);
  });
}).listen(8080, '::')`;

/** Opens so many connections, one after the other, and holds them. */
const client = `
const [host, port, count, say] = process.argv.slice(1);
(async () => {
  for (let n = 0; n < Number(count); n += 1) {
    await new Promise((resolve, reject) => {
      const socket = require('net').connect(Number(port), host, () => socket.write(say));
      socket.on('data', resolve);
      socket.on('error', reject);
    });
  }
  console.log('ready');
})()`;

const service = (name: string, spec: string): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
  ipFamilyPolicy: PreferDualStack
  ${spec}
`;

/** Two on the first node, and one on the second. */
const pods = [1, 1, 2].map(
  (node, at) => `
apiVersion: v1
kind: Pod
metadata: {name: web-${at}, labels: {app: web}}
spec:
  nodeName: node-${node}
  containers:
  - name: web
    image: process
    command: [node, -e, ${JSON.stringify(server.replaceAll('\n', ' '))}]
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
`,
);

const names = ['even', 'sticky', 'local', 'heavy', 'six'];

const manifest = [
  ...pods,
  service('even', 'type: ClusterIP'),
  service('sticky', 'sessionAffinity: ClientIP'),
  service('local', 'internalTrafficPolicy: Local'),
  service('heavy', 'type: ClusterIP'),
  service('six', 'ipFamilies: [IPv6]'),
].join('---');

/** All endpoints, in the rules of all nodes. */
async function areRulesWritten(up: Up, name: string): Promise<true | undefined> {
  const path = '/apis/parts.fairlead.dev/v1alpha1/namespaces/default/propagations';
  const slices = ['get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}`];
  const addresses = await up.kubectl(
    ...slices,
    '-o',
    'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses}',
  );
  const { status } = JSON.parse(await up.kubectl('get', '--raw', `${path}/${name}`)) as {
    readonly status: {
      readonly parts: readonly { readonly kind: string; readonly state: string }[];
    };
  };
  const proxies = status.parts.filter(({ kind, state }) => kind === 'proxy' && state === 'Current');
  // One of each family.
  return proxies.length === 2 && addresses.split(' ').length === 2 * pods.length ? true : undefined;
}

type Cluster = {
  readonly up: Up;
  readonly connect: (connections: Connections) => Promise<void>;
  readonly top: (target: string) => Promise<TopServices>;
  readonly end: () => Promise<void>;
};

type Connections = {
  readonly service: string;
  readonly node: number;
  readonly count: number;
  readonly say?: string;
};

async function startCluster(identity: Identity, mode: string): Promise<Cluster> {
  const directory = makeDirectory(identity);
  const up = await startUp(identity, directory, ['--nodes', '2', '--proxy-mode', mode]);
  const file = join(directory, 'web.yaml');
  writeFileSync(file, manifest);
  await up.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s');
  await up.kubectl('apply', '-f', file);
  await up.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=100s');
  for (const name of names) await until(() => areRulesWritten(up, name));
  const clients: ChildProcess[] = [];
  return {
    up,
    async connect({ service, node, count, say = 'hello' }) {
      const host = await up.kubectl('get', 'service', service, '-o', 'jsonpath={.spec.clusterIP}');
      const shell = ['shell', '--node', `node-${node}`, '--'];
      const words = [process.execPath, '-e', client, host, '80', String(count), say];
      const child = up.spawnFairlead(...shell, ...words);
      clients.push(child);
      assert.ok(child.stdout !== null);
      const [text] = await once(child.stdout, 'data');
      assert.equal(String(text), 'ready\n');
    },
    top: async (target) =>
      JSON.parse(await up.fairlead('top', 'services', target, '-o', 'json')) as TopServices,
    async end() {
      for (const child of clients) child.kill();
      await endWith(up, 'SIGTERM');
      removeDirectory(directory);
    },
  };
}

function only({ services }: TopServices): ServiceTraffic {
  const [service] = services;
  assert.ok(service !== undefined);
  return service;
}

const codesOf = ({ skew }: ServiceTraffic): readonly string[] =>
  skew.causes.map(({ code }) => code);

for (const mode of ['nftables', 'iptables', 'userspace']) {
  describe(`top in mode ${mode}`, { timeout }, () => {
    let cluster: Cluster;
    before(async () => {
      cluster = await startCluster('root', mode);
      for (const node of ['node-1', 'node-2']) {
        const setting = 'net.netfilter.nf_conntrack_acct=1';
        await cluster.up.fairlead('shell', '--node', node, '--', 'sysctl', '-w', setting);
      }
    });
    after(() => cluster.end());

    test('even traffic of both nodes is even, and counted once', async () => {
      await cluster.connect({ service: 'even', node: 1, count: 150 });
      await cluster.connect({ service: 'even', node: 2, count: 150 });
      const top = await cluster.top('svc/even');
      const service = only(top);
      assert.deepEqual([service.openConnections, service.usableEndpoints], [300, 3]);
      assert.equal(service.skew.verdict, 'even', service.skew.sentence);
      assert.deepEqual(
        top.nodes.map((one) => [one.node, one.mode, one.bytesCounted]),
        [
          ['node-1', mode, 'yes'],
          ['node-2', mode, 'yes'],
        ],
      );
    });

    test('session affinity is the cause where one client meets one endpoint', async () => {
      await cluster.connect({ service: 'sticky', node: 1, count: 40 });
      const service = only(await cluster.top('svc/sticky'));
      assert.equal(service.openConnections, 40);
      assert.equal(service.skew.factor, 3);
      assert.deepEqual(codesOf(service), ['affinity', 'few-clients']);
    });

    test('policy Local is the cause where a node with one endpoint has as many clients', async () => {
      await cluster.connect({ service: 'local', node: 1, count: 100 });
      await cluster.connect({ service: 'local', node: 2, count: 100 });
      const service = only(await cluster.top('svc/local'));
      assert.equal(service.openConnections, 200);
      assert.deepEqual([service.skew.factor, codesOf(service)], [1.5, ['policy-local']]);
    });

    test('one heavy connection is named by its client', async () => {
      await cluster.connect({ service: 'heavy', node: 1, count: 150 });
      await cluster.connect({ service: 'heavy', node: 2, count: 1, say: 'stream' });
      const service = only(await cluster.top('svc/heavy'));
      assert.deepEqual([service.skew.of, codesOf(service)], ['bytes', ['heavy-connections']]);
      const [cause] = service.skew.causes;
      assert.match(
        cause?.evidence ?? '',
        /^the connection of [0-9.]+:\d+ carries \d+% of the bytes/,
      );
      assert.ok((service.bytesOutPerSecond ?? 0) > 300_000);
    });

    test('IPv6', async () => {
      await cluster.connect({ service: 'six', node: 1, count: 10 });
      const { ports, openConnections } = only(await cluster.top('svc/six'));
      assert.equal(openConnections, 10);
      assert.deepEqual(ports.map(({ family, openConnections: open }) => [family, open]).sort(), [
        ['IPv4', 0],
        ['IPv6', 10],
      ]);
    });
  });
}

describe('top of an ordinary user', { timeout }, () => {
  test('counts connections in namespaces of its own', async () => {
    const cluster = await startCluster('an ordinary user', 'nftables');
    try {
      await cluster.connect({ service: 'even', node: 2, count: 30 });
      const { openConnections } = only(await cluster.top('svc/even'));
      assert.equal(openConnections, 30);
    } finally {
      await cluster.end();
    }
  });
});
