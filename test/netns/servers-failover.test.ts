// Two API servers on one etcd and a node that joined both: when the server that the node's agent and proxy use dies, they go on with the
// other, and the kubernetes Service leads to that one alone.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectInside } from '../../src/host/namespace-sockets.ts';
import { etcdMissing } from '../parts/harness/running-etcd.ts';
import { joinFlags } from './lab/join-flags.ts';
import { type Machine, startMachines } from './lab/machines.ts';

const serviceAddress = { host: '10.96.0.1', port: 443 };

async function isTaken(machine: Machine): Promise<boolean> {
  const socket = connectInside(machine.path, serviceAddress);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(5000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Of two endpoints each is as likely as the other: so many in a row do not happen while one is dead. */
const enoughInARow = 16;

test('a node goes on with the other server', {
  skip: etcdMissing() ?? false,
  timeout: 180_000,
}, async (t) => {
  const machines = await startMachines(t);
  const [one, two, worker] = [await machines.add(1), await machines.add(2), await machines.add(3)];
  const etcd = `http://${one.ip}:2379`;
  await one.startProgram(
    'etcd',
    [
      ...['--data-dir', 'etcd', '--listen-client-urls', etcd, '--advertise-client-urls', etcd],
      ...['--listen-peer-urls', `http://${one.ip}:2380`, '--logger', 'zap'],
    ],
    'serving client traffic insecurely',
  );
  const startServer = (machine: Machine, name: string) =>
    machine.start(
      `apiserver --etcd-servers ${etcd} --bind-address ${machine.ip} --secure-port 6443 --data-dir ${name} --write-kubeconfig ${name}.kubeconfig`,
      'kubeconfig in ',
    );
  const first = await startServer(one, 'one');
  const [from, to] = ['one', 'two'].map((name) => join(machines.directory, name, 'pki'));
  mkdirSync(String(to), { recursive: true, mode: 0o700 });
  for (const file of ['ca.crt', 'ca.key', 'sa.key']) {
    cpSync(join(String(from), file), join(String(to), file));
  }
  await startServer(two, 'two');

  const flags = await joinFlags(machines, one, 'one.kubeconfig');
  const servers = [...flags.matchAll(/--join (\S+)/g)].map(([, url]) => url);
  assert.deepEqual(servers.sort(), [`https://${one.ip}:6443`, `https://${two.ip}:6443`]);
  const agent = await worker.start(
    `node --join https://${one.ip}:6443 --join https://${two.ip}:6443 ${flags.replace(/^.*(--token-file)/, '$1')} --node-name w --node-ip ${worker.ip} --address ${worker.ip} --data-dir w`,
    `Node w for https://${one.ip}:6443`,
  );
  await agent.says('"certificate":"serving"');
  const proxy = await worker.start(
    'proxy --data-dir w --hostname-override w --proxy-mode nftables --cluster-cidr 10.244.0.0/16',
    `Proxy for https://${one.ip}:6443`,
  );
  await proxy.says('"family":"IPv4"');
  assert.ok(await isTaken(worker));

  await first.kill();
  // The second server drops the first from its Service, and the proxy hears of it there.
  for (let inARow = 0; inARow < enoughInARow; ) inARow = (await isTaken(worker)) ? inARow + 1 : 0;
  assert.match(await two.run('get nodes --no-headers --kubeconfig two.kubeconfig'), /^w +Ready/);
});
