// The API server on an embedded store, to be started again on the same data and port, and what the JavaScript client
// of Kubernetes needs to reach it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type ApiServer, startApiServer } from '../../../src/apiserver/start.ts';
import { type Cidr, parseCidr } from '../../../src/ip/cidr.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { openEmbeddedStore } from '../../../src/storage/backends/embedded/store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { freePort } from './free-port.ts';
import { testCredentials } from './memory-server.ts';

export type LastingServer = {
  readonly config: KubeConfig;
  /** To the server that runs now. */
  readonly api: () => ApiClient;
  readonly store: () => Store;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Running = { readonly server: ApiServer; readonly store: Store; readonly api: ApiClient };

export async function startLastingServer(): Promise<LastingServer> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-client-node-'));
  const port = await freePort();
  let running = await start(directory, port);
  const end = async ({ api, server, store }: Running): Promise<void> => {
    api.close();
    await server.stop();
    await store.close();
  };
  return {
    config: configFor(port),
    api: () => running.api,
    store: () => running.store,
    async restart() {
      await end(running);
      running = await start(directory, port);
    },
    async stop() {
      await end(running);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function start(directory: string, port: number): Promise<Running> {
  const store = await openEmbeddedStore({ directory, now: Date.now });
  const credentials = testCredentials();
  const { authority, administrator } = credentials;
  const server = await startApiServer({
    store,
    credentials,
    host: '127.0.0.1',
    port,
    advertiseAddress: '192.0.2.1',
    serviceCidrs: [parseCidr('10.96.0.0/16') as Cidr],
    nodePorts: { first: 30_000, last: 32_767 },
    packageVersion: '0.0.0',
    now: Date.now,
    log: silentLog,
    // No controller makes the accounts that pods need.
    admissionPlugins: { disable: ['ServiceAccount'] },
  });
  const api = await openApiClient({
    port: server.address.port,
    ca: authority.certificate,
    cert: administrator.certificate,
    key: administrator.privateKey,
  });
  return { server, store, api };
}

function configFor(port: number): KubeConfig {
  const { authority, administrator } = testCredentials();
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'c',
      server: `https://127.0.0.1:${port}`,
      caData: base64(authority.certificate),
      skipTLSVerify: false,
    },
    {
      name: 'u',
      certData: base64(administrator.certificate),
      keyData: base64(administrator.privateKey),
    },
  );
  return config;
}
