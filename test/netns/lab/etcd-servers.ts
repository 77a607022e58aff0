// API servers on hosts of a network, all on one etcd and of one authority.
import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConnection } from '../../../src/client/read-kubeconfig.ts';
import { isReady } from '../../crash/api-crash-server.ts';
import type { Reachable } from '../../crash/etcd-fault-clients.ts';
import { openApiClient } from '../../parts/harness/api-client.ts';
import type { Host } from '../../parts/harness/running-etcd.ts';

export type HostedServer = Reachable & { readonly address: string };

const program = fileURLToPath(new URL('./program.js', import.meta.url));
const port = 6443;
/** What servers must have in common for clients of one to be clients of all. */
const commonFiles = ['ca.crt', 'ca.key', 'sa.key'];

export async function startServersOn(
  hosts: readonly Host[],
  etcdUrls: readonly string[],
): Promise<readonly HostedServer[]> {
  const directory = await mkdtemp(join(tmpdir(), 'servers-'));
  const servers: HostedServer[] = [];
  for (const [number, { address, launch }] of hosts.entries()) {
    const own = join(directory, String(number));
    const pki = join(own, 'pki');
    await mkdir(pki, { recursive: true, mode: 0o700 });
    const first = join(directory, '0', 'pki');
    if (number > 0) for (const file of commonFiles) await cp(join(first, file), join(pki, file));
    const kubeconfig = join(own, 'kubeconfig');
    const flags = [
      ...['apiserver', '--etcd-servers', etcdUrls.join(',')],
      ...['--bind-address', address, '--secure-port', String(port), '--data-dir', own],
      ...['--write-kubeconfig', kubeconfig, '--log-level', 'silent'],
      ...['--service-cluster-ip-range', '10.96.0.0/24'],
      ...['--service-node-port-range', '30000-30255'],
    ];
    const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
    const child = launch(process.execPath, [program, ...flags], { stdio });
    // One that ends by itself is what these labs look for.
    child.once('exit', (code) => {
      process.stderr.write(`server ${number} ended with ${code}\n`);
      process.exit(1);
    });
    await isReady(child);
    const connect = async () => {
      const identity = await readConnection([kubeconfig]);
      return openApiClient({
        ...{ host: address, port },
        ca: identity.certificateAuthority ?? '',
        cert: identity.clientCertificate ?? '',
        key: identity.clientKey ?? '',
      });
    };
    servers.push({ number, address, connect });
  }
  return servers;
}
