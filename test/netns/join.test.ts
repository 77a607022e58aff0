// A cluster of several machines: one with the server, others that join by the command that it prints, with a proxy beside each.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { connectInside } from '../../src/host/namespace-sockets.ts';
import { joinFlags } from './lab/join-flags.ts';
import { type Machine, startMachines } from './lab/machines.ts';

const limit = { timeout: 180_000 };
const admin = '--kubeconfig admin';

/** Speaks TLS from inside a machine, and says which names the certificate at the other end has. */
async function namesAt(machine: Machine, host: string, port: number, ca: string): Promise<string> {
  const socket = connectInside(machine.path, { host, port });
  await once(socket, 'connect', { signal: AbortSignal.timeout(10_000) });
  const secure = connect({ socket, ca, checkServerIdentity: () => undefined });
  await once(secure, 'secureConnect', { signal: AbortSignal.timeout(10_000) });
  const { subjectaltname = '' } = secure.getPeerCertificate();
  secure.destroy();
  return subjectaltname;
}

test('machines join by token, and their proxies carry connections', limit, async (t) => {
  const machines = await startMachines(t);
  const first = await machines.add(1);
  await first.start(
    `up --network none --bind-address ${first.ip} --secure-port 6443 --data-dir server --write-kubeconfig admin`,
    'Press Ctrl-C to stop it.',
  );
  const ca = readFileSync(join(machines.directory, 'server', 'pki', 'ca.crt'), 'utf8');
  const flags = await joinFlags(machines, first);
  assert.match(flags, /^--join https:\/\/172\.31\.0\.1:6443 /);

  for (const number of [2, 3]) {
    const machine = await machines.add(number);
    const name = `m${number}`;
    const own = `--node-name ${name} --node-ip ${machine.ip} --address ${machine.ip} --data-dir ${name}`;
    const agent = await machine.start(`node ${flags} ${own}`, `Node ${name} for`);
    await agent.says('"certificate":"serving"');
    // What the agent serves with is the cluster's by now.
    assert.equal(
      await namesAt(first, machine.ip, 10250, ca),
      `DNS:${name}, IP Address:${machine.ip}`,
    );
    const proxy = await machine.start(
      `proxy --data-dir ${name} --hostname-override ${name} --proxy-mode nftables --cluster-cidr 10.244.0.0/16`,
      `Proxy for https://${first.ip}:6443`,
    );
    await proxy.says('"family":"IPv4"');
    // The Service of the server, by the rules of this machine.
    assert.match(await namesAt(machine, '10.96.0.1', 443, ca), /DNS:kubernetes/);
    // Stopped and started without any flag of joining, it is the same node.
    await agent.stop();
    await machine.start(`node ${own}`, `Node ${name} for`);
  }
  const nodes = await first.run(`get nodes --no-headers ${admin}`);
  assert.match(nodes, /^m2 +Ready.*\nm3 +Ready/);
  const requests = await first.run(`get csr --no-headers ${admin}`);
  const issued = requests.split('\n').filter((line) => line.includes('Approved,Issued'));
  assert.equal(issued.length, 4, requests);

  // A deleted token admits no node any more; nodes that have joined stay.
  const [, row = ''] = (await first.run(`token list ${admin}`)).split('\n');
  const [id] = row.split(' ');
  await first.run(`delete secret bootstrap-token-${id} -n kube-system ${admin}`);
  const late = await machines.add(4);
  await assert.rejects(
    late.run(`node ${flags} --node-name m4 --node-ip ${late.ip} --data-dir m4`),
    /server rejected the token/,
  );
  assert.match(await first.run(`get nodes --no-headers ${admin}`), /^m2 +Ready.*\nm3 +Ready/);
});
