// A node that joined, with certificates of a few seconds: it renews them while it runs, and the server, which looks at the one it
// serves with, goes on reaching it. All of it as processes.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { readConnection } from '../../src/client/read-kubeconfig.ts';
import type { Status } from '../../src/meta/api-error.ts';
import { root } from '../lanes/running-server.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { runCommand } from './run-command.ts';

/** An address that is not the server's: nobody may have a certificate for that. */
const nodeIP = '127.0.0.2';
const limit = { timeout: 180_000 };

let directory: string;
let api: ApiClient;
const processes: Spoken[] = [];

type Spoken = {
  readonly child: ChildProcess;
  /** Resolves when so many lines have come that hold the words. */
  readonly says: (words: string, times?: number) => Promise<void>;
};

function start(line: string): Spoken {
  const child = spawn(process.execPath, [join(root, 'bin', 'fairlead'), ...line.split(' ')], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen: string[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of waiting) look();
  };
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (text) => {
      seen.push(text);
      wake();
    });
  }
  child.once('exit', wake);
  const says = (words: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const isSaid = seen.filter((text) => text.includes(words)).length >= times;
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (!isSaid && !hasEnded) return;
        waiting.delete(look);
        if (isSaid) resolve();
        else reject(new Error(`"${line}" ended: ${seen.join('\n')}`));
      };
      waiting.add(look);
      look();
    });
  const spoken = { child, says };
  processes.push(spoken);
  return spoken;
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-renewal-'));
  const server = start(
    'apiserver --bind-address 127.0.0.1 --secure-port 0 --advertise-address 127.0.0.1 --data-dir server --write-kubeconfig admin ' +
      '--cluster-signing-duration 15s --kubelet-certificate-authority server/pki/ca.crt --log-level error',
  );
  await server.says('kubeconfig in ');
  const connection = await readConnection([join(directory, 'admin')]);
  api = await openApiClient({
    port: Number(new URL(connection.server).port),
    ca: connection.certificateAuthority ?? '',
    cert: connection.clientCertificate ?? '',
    key: connection.clientKey ?? '',
  });
});
after(async () => {
  api?.close();
  for (const { child } of processes.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  await rm(directory, { recursive: true, force: true });
});

/** What the agent says when the server asks it. */
const healthOf = (name: string) =>
  api.send<string | Status>({ method: 'GET', path: `/api/v1/nodes/${name}/proxy/healthz` });

test(
  'both certificates of a node are renewed, and the server knows it by the newest',
  limit,
  async () => {
    const { out, err } = await runCommand('token create --kubeconfig admin', directory);
    assert.match(out, /^fairlead node --join /, err);
    const agent = start(
      `${out.trim().replace(/^fairlead /, '')} --node-name member --node-ip ${nodeIP} --address ${nodeIP} --port 0 --data-dir member ` +
        '--pod-network host --log-level info',
    );
    for (let times = 1; times <= 3; times += 1) {
      await Promise.all([
        agent.says('"certificate":"serving"', times),
        agent.says('"certificate":"client"', times - 1),
      ]);
      const { status, body } = await healthOf('member');
      assert.equal(status, 200, JSON.stringify(body));
    }
  },
);

test(
  'an agent whose certificate nobody of the cluster signed is not spoken to',
  limit,
  async () => {
    const made = await runCommand(
      'kubeconfig --user system:node:stranger --group system:nodes --data-dir server --kubeconfig admin -o stranger',
      directory,
    );
    assert.equal(made.code, 0, made.err);
    const agent = start(
      'node --kubeconfig stranger --node-name stranger --node-ip 127.0.0.3 --address 127.0.0.3 --port 0 --data-dir own ' +
        '--pod-network host --log-level error',
    );
    await agent.says('Node stranger for');
    const { status, body } = await healthOf('stranger');
    assert.equal(status, 503, JSON.stringify(body));
    assert.match(JSON.stringify(body), /self-signed certificate/);
  },
);
