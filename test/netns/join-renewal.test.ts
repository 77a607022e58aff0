// Agents with certificates of a few seconds: they renew them while they run, and the server, which verifies the node's certificate,
// keeps reaching them. All parts are processes, and each machine is a namespace.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { readConnection } from '../../src/client/read-kubeconfig.ts';
import { connectInside } from '../../src/host/namespace-sockets.ts';
import { joinFlags } from './lab/join-flags.ts';
import { type Machine, type Machines, startMachines } from './lab/machines.ts';

const limit = { timeout: 180_000 };

async function startServer(machines: Machines): Promise<Machine> {
  const first = await machines.add(1);
  await first.start(
    `apiserver --bind-address ${first.ip} --secure-port 6443 --data-dir server --write-kubeconfig admin --cluster-signing-duration 15s --log-level error`,
    'kubeconfig in ',
  );
  return first;
}

/** What the agent says when the server asks it. */
async function healthOf({ directory }: Machines, { path, ip }: Machine, node: string) {
  const { certificateAuthority, clientCertificate, clientKey } = await readConnection([
    join(directory, 'admin'),
  ]);
  const socket = connectInside(path, { host: ip, port: 6443 });
  const tls = { ca: certificateAuthority, cert: clientCertificate, key: clientKey };
  return await new Promise<string>((resolve, reject) => {
    const asking = request({
      path: `/api/v1/nodes/${node}/proxy/healthz`,
      createConnection: () => connect({ socket, host: ip, ...tls }),
    });
    asking.once('error', reject).once('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(`${response.statusCode} ${text}`);
    });
    asking.end();
  });
}

test(
  'both certificates of a node are renewed, and the server knows it by the newest',
  limit,
  async (t) => {
    const machines = await startMachines(t);
    const first = await startServer(machines);
    const machine = await machines.add(2);
    const flags = await joinFlags(machines, first);
    const agent = await machine.start(
      `node ${flags} --node-name member --node-ip ${machine.ip} --address ${machine.ip} --data-dir member --pod-network host --log-level info`,
      'Node member for',
    );
    for (let times = 1; times <= 3; times += 1) {
      await Promise.all([
        agent.says('"certificate":"serving"', times),
        agent.says('"certificate":"client"', times - 1),
      ]);
      assert.equal(await healthOf(machines, first, 'member'), '200 ok');
    }
  },
);

test(
  'an agent with a kubeconfig requests a certificate if it is the node itself; the server connects to no other',
  limit,
  async (t) => {
    const machines = await startMachines(t);
    const first = await startServer(machines);
    await first.run(
      'kubeconfig --user system:node:given --group system:nodes --data-dir server --kubeconfig admin -o given',
    );
    const machine = await machines.add(2);
    const agent = await machine.start(
      `node --kubeconfig given --node-name given --node-ip ${machine.ip} --address ${machine.ip} --data-dir given-data --pod-network host --log-level info`,
      'Node given for',
    );
    await agent.says('"certificate":"serving"');
    assert.equal(await healthOf(machines, first, 'given'), '200 ok');
    const other = await machines.add(3);
    await other.start(
      `node --kubeconfig admin --node-name unknown --node-ip ${other.ip} --address ${other.ip} --data-dir own --pod-network host --log-level error`,
      'Node unknown for',
    );
    assert.match(await healthOf(machines, first, 'unknown'), /^503 .*self-signed certificate/);
  },
);

test(
  'a node beside the server has its address; which needs approval; the server reaches it before',
  limit,
  async (t) => {
    const machines = await startMachines(t);
    const first = await startServer(machines);
    const flags = await joinFlags(machines, first);
    const agent = await first.start(
      `node ${flags} --node-name beside --node-ip ${first.ip} --address ${first.ip} --data-dir beside --pod-network host --log-level info`,
      'Node beside for',
    );
    await agent.says('Using a certificate for the node name only');
    assert.equal(await healthOf(machines, first, 'beside'), '200 ok');
  },
);
