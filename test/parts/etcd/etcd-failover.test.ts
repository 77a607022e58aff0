// Two API servers on one etcd, and programs whose kubeconfig names both: when the server they use dies, they go on with the other.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { writeKubeconfig } from '../../../src/apiserver/certificates/kubeconfig-file.ts';
import { startInformer } from '../../../src/client/informer.ts';
import { openFailoverTransport } from '../../../src/client/open-failover-transport.ts';
import { readConnection } from '../../../src/client/read-kubeconfig.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { systemClock } from '../../../src/host/clock.ts';
import { configMapDefinition } from '../../../src/kinds/config-map/definition.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { createLog } from '../../../src/observe/log.ts';
import {
  type FaultServer,
  type FaultServers,
  startFaultServers,
} from '../../crash/etcd-fault-servers.ts';
import { root } from '../../lanes/running-server.ts';
import { startControllersProcess } from '../harness/controllers-process.ts';
import { askUdp } from '../harness/dns-client.ts';
import { runCommand } from '../harness/run-command.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../harness/running-etcd.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';

const skip = etcdMissing() ?? false;
const limit = { skip, timeout: 120_000 };
const maps = '/api/v1/namespaces/default/configmaps';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

let etcd: RunningEtcd;
let servers: FaultServers;
let first: FaultServer;
let second: FaultServer;
let directory: string;
/** Names both servers, the one that will die first. */
let kubeconfig: string;
let cleanups: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  etcd = await startEtcd();
  servers = await startFaultServers(2, etcd.urls);
  [first, second] = servers.all as readonly [FaultServer, FaultServer];
  directory = await mkdtemp(join(tmpdir(), 'fairlead-failover-'));
  kubeconfig = join(directory, 'kubeconfig');
  const { certificateAuthority, clientCertificate, clientKey } = await readConnection([
    first.kubeconfig,
  ]);
  await writeKubeconfig(kubeconfig, {
    ...{ server: first.url, otherServers: [second.url], authority: certificateAuthority ?? '' },
    client: { certificate: clientCertificate ?? '', privateKey: clientKey ?? '' },
  });
});
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
  if (skip === false) await first.start();
});
after(async () => {
  if (skip !== false) return;
  await servers.remove();
  await etcd.stop();
  await rm(directory, { recursive: true });
});

test('an informer resumes from its version, and gets every object once', limit, async () => {
  const end = new AbortController();
  const transport = openFailoverTransport(await readConnection([kubeconfig]));
  cleanups.push(async () => {
    end.abort();
    await transport.close();
  });
  const paths: string[] = [];
  const noting: Transport = {
    ...transport,
    send(request) {
      paths.push(request.path);
      return transport.send(request);
    },
  };
  const received: string[] = [];
  let check = (): void => {};
  const informer = startInformer(
    {
      caller: { transport: noting, userAgent: 'test' },
      ...{ type: configMapDefinition, namespace: 'default' },
      ...{ clock: systemClock, log: createLog('silent') },
    },
    end.signal,
  );
  informer.onChange({
    add({ metadata }) {
      received.push(metadata.name ?? '');
      check();
    },
  });
  await informer.synced();
  const others = received.length;
  const api = await second.connect();
  const count = 60;
  const names = Array.from({ length: count }, (_, n) => `m-${n}`);
  const allReceived = new Promise<void>((resolve) => {
    check = () => {
      if (received.length >= others + count) resolve();
    };
  });
  for (const [n, name] of names.entries()) {
    await api.post(maps, { metadata: { name } });
    if (n === count / 2) await first.kill();
  }
  await allReceived;
  api.close();
  assert.deepEqual(received.slice(others), names);
  const again = paths.filter((path) => path.includes('watch=')).slice(1);
  assert.ok(again.length > 0, 'the watch was begun anew');
  for (const path of again) assert.match(path, /[?&]resourceVersion=\d+/);
});

test('dns and controllers go on with the other server', limit, async () => {
  const dns = spawn(
    process.execPath,
    [
      join(root, 'bin', 'fairlead'),
      ...['dns', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '--forward', 'none'],
      ...['--metrics-bind-address', 'none', '--log-level', 'error'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  cleanups.push(() => ended(dns));
  const port = await portOf(dns);
  const controllers = await startControllersProcess(kubeconfig, ['--no-leader-elect']);
  cleanups.push(controllers.kill);
  const api = await second.connect();
  cleanups.push(async () => api.close());
  await api.post(services, headless('before'));
  await api.post('/api/v1/namespaces/default/endpoints', endpointsOf('before'));
  await isMirrored('before');
  await first.kill();
  const { spec } = await api.post<Service>(services, { metadata: { name: 'after' }, spec: ports });
  await api.post(services, headless('later'));
  await api.post('/api/v1/namespaces/default/endpoints', endpointsOf('later'));
  await isMirrored('later');
  await answers(port, 'after.default.svc.cluster.local.', String(spec.clusterIP));
  await answers(port, 'later.default.svc.cluster.local.', '10.9.9.9');

  async function isMirrored(name: string): Promise<void> {
    const watch = await api.watch<EndpointSlice>(
      `${slices}?watch=true&labelSelector=kubernetes.io%2Fservice-name%3D${name}`,
    );
    await watch.until((events) => events.some(({ type }) => type === 'ADDED'));
    watch.close();
  }
});

test('a joining machine gets the addresses of all live servers', limit, async () => {
  const { out, err } = await runCommand(`token create --kubeconfig ${kubeconfig}`, directory);
  const [one, two] = [first, second].map(
    ({ advertised, url }) => `https://${advertised}:${new URL(url).port}`,
  );
  const joined = [...out.matchAll(/--join (\S+)/g)].map(([, url]) => url);
  assert.deepEqual(joined.sort(), [one, two], err);
});

test('a kubeconfig for others names all servers that our own does', limit, async () => {
  const made = await runCommand(
    `kubeconfig --user jo --kubeconfig ${kubeconfig} --data-dir ${join(first.kubeconfig, '..', 'data')} -o jo`,
    directory,
  );
  assert.equal(made.code, 0, made.err);
  const { server, otherServers } = await readConnection([join(directory, 'jo')]);
  assert.deepEqual([server, ...(otherServers ?? [])], [first.url, second.url]);
});

const ports = { ports: [{ port: 80 }] };
const headless = (name: string) => ({ metadata: { name }, spec: { clusterIP: 'None', ...ports } });
const endpointsOf = (name: string) => ({
  metadata: { name },
  subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 80 }] }],
});

/** Until the name leads there. */
async function answers(port: number, name: string, address: string): Promise<void> {
  for (;;) {
    const { lines } = await askUdp({ host: '127.0.0.1', port }, { name, type: 'A' });
    if (lines.some((line) => line.includes(address))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  const [, port] = await waitForOutput(stdout, / on \S*:(\d+)\n/);
  return Number(port);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
