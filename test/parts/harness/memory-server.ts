// The whole API server on loopback with a store in memory, and a client that speaks HTTP/2 to it.

import {
  administratorSubject,
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from '../../../src/apiserver/certificates/authority.ts';
import type { Credentials } from '../../../src/apiserver/certificates/ensure-certificates.ts';
import type { ApiServerOptions } from '../../../src/apiserver/options.ts';
import { type ApiServer, startApiServer } from '../../../src/apiserver/start.ts';
import { type Cidr, parseCidr } from '../../../src/ip/cidr.ts';
import { type PortRange, parsePortRange } from '../../../src/ip/port-range.ts';
import { createLog } from '../../../src/observe/log.ts';
import { openMemoryStore } from '../../../src/storage/backends/memory/store.ts';
import type { StoreClock } from '../../../src/storage/expiry.ts';
import type { Store } from '../../../src/storage/store.ts';
import { type ApiClient, openApiClient } from './api-client.ts';

export type MemoryServer = {
  readonly store: Store;
  readonly server: ApiServer;
  readonly api: ApiClient;
  /** Ends the server and closes the store. */
  readonly stop: () => Promise<void>;
};

export type MemoryServerOptions = {
  readonly clock?: StoreClock;
  /** Of a server before, to start again on what it left. */
  readonly store?: Store;
  readonly advertiseAddress?: string;
  readonly nodePorts?: string;
  readonly serviceCidrs?: string;
  readonly access?: Pick<
    ApiServerOptions,
    | 'tokens'
    | 'admissionPlugins'
    | 'pluginConfiguration'
    | 'dial'
    | 'dialNode'
    | 'limits'
    | 'audit'
    | 'serviceNodePort'
    | 'publishesEndpoints'
    | 'history'
  >;
};

export async function startMemoryServer(options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const clock = options.clock ?? { now: () => Date.now() };
  const store = options.store ?? openMemoryStore(clock);
  const credentials = testCredentials();
  const server = await startApiServer({
    store,
    credentials,
    host: '127.0.0.1',
    port: 0,
    advertiseAddress: options.advertiseAddress ?? '192.0.2.1',
    serviceCidrs: cidrs(options.serviceCidrs ?? '10.96.0.0/16,fd00:96::/108'),
    nodePorts: ports(options.nodePorts ?? '30000-32767'),
    packageVersion: '0.0.0',
    now: clock.now,
    // What the server could not handle belongs into the output of the test.
    log: createLog('error'),
    // No controller makes the accounts that pods need; tests of the plugin ask for it.
    admissionPlugins: { disable: ['ServiceAccount'] },
    ...options.access,
  });
  const api = await openApiClient({
    port: server.address.port,
    ca: credentials.authority.certificate,
    cert: credentials.administrator.certificate,
    key: credentials.administrator.privateKey,
  });
  const stop = async (): Promise<void> => {
    api.close();
    await server.stop();
    await store.close();
  };
  return { store, server, api, stop };
}

let made: Credentials | undefined;

/** Made once: keys are costly, and no test depends on having its own. */
export function testCredentials(): Credentials {
  if (made !== undefined) return made;
  const now = Date.now();
  const authority = makeAuthority(now);
  // Good at all times that tests set their clocks to.
  const request = { ...administratorSubject, days: 36_500, now: 0 };
  made = {
    authority,
    server: issueServerCertificate(authority, { names: ['localhost', '127.0.0.1'], now }),
    administrator: issueClientCertificate(authority, request),
  };
  return made;
}

function cidrs(text: string): readonly Cidr[] {
  return text.split(',').map((part) => {
    const cidr = parseCidr(part);
    if (cidr === undefined) throw new Error(`"${part}" is no network`);
    return cidr;
  });
}

function ports(text: string): PortRange {
  const range = parsePortRange(text);
  if (range === undefined) throw new Error(`"${text}" is no range of ports`);
  return range;
}
