// The lab's cluster: an API server in this process, which is quickly there, and on each node the real binary as its proxy.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderKubeconfig } from '../../../src/apiserver/certificates/kubeconfig-file.ts';
import { defaultLimits } from '../../../src/apiserver/limits/limits.ts';
import { insideNamespace } from '../../../src/host/namespaces.ts';
import { fairlead } from '../../netns/lab/cluster.ts';
import { relay } from '../../netns/lab/two-nodes.ts';
import type { ApiClient } from '../../parts/harness/api-client.ts';
import { startMemoryServer, testCredentials } from '../../parts/harness/memory-server.ts';
import { addressesOf, type Lab, type NodeName, nodeNames, podRangesOf } from './lab.ts';

export type Cluster = {
  readonly api: ApiClient;
  /** Throws when a proxy has ended. */
  readonly assertRunning: () => void;
  readonly stop: () => Promise<void>;
};

export async function startCluster(lab: Lab, mode: string): Promise<Cluster> {
  const cleanups: (() => unknown)[] = [];
  const { api, server, stop } = await startMemoryServer({
    // Starting takes minutes on a busy emulated machine, without any traffic.
    access: { limits: { ...defaultLimits, idleTimeoutMs: 3_600_000 } },
  });
  cleanups.push(stop);
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-scenarios-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  const { authority, administrator } = testCredentials();
  const { port } = server.address;
  const access = { authority: authority.certificate, client: administrator };
  const text = renderKubeconfig({ server: `https://127.0.0.1:${port}`, ...access });
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  for (const name of nodeNames) {
    await api.post('/api/v1/nodes', nodeObject(name));
    cleanups.push(await relay(lab.pathOf(name), port));
  }
  const proxies = nodeNames.map((name) => startProxy(lab, { name, mode, kubeconfig }));
  cleanups.push(() => Promise.all(proxies.map(endProcess)));
  return {
    api,
    assertRunning: () => assert.ok(!proxies.some(hasEnded), 'a proxy has ended'),
    stop: async () => {
      for (const clean of cleanups.reverse()) await clean();
    },
  };
}

function nodeObject(name: NodeName): object {
  const labels = {
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': name === 'n1' ? 'zone-a' : 'zone-b',
  };
  const podCIDRs = podRangesOf(name);
  const addresses = addressesOf(name).map((address) => ({ type: 'InternalIP', address }));
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { podCIDR: podCIDRs[0], podCIDRs },
    status: { addresses: [...addresses, { type: 'Hostname', address: name }] },
  };
}

type ProxyOrder = { readonly name: NodeName; readonly mode: string; readonly kubeconfig: string };

function startProxy(lab: Lab, { name, mode, kubeconfig }: ProxyOrder): ChildProcess {
  const args = [
    ...[fairlead, 'proxy', '--kubeconfig', kubeconfig, '--hostname-override', name],
    ...['--proxy-mode', mode, '--cluster-cidr', '10.244.0.0/16,fd44::/16', '--log-level', 'warn'],
  ];
  // What it complains about belongs into the output of the test.
  return insideNamespace(lab.pathOf(name), () =>
    spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }),
  );
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
