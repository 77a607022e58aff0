// The connections to registries: a few per host, used again, through the proxy of the environment.
import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { chooseProxy, type ProxyServer, readProxyVariables } from '../../host/choose-proxy.ts';
import { openTunnel } from '../../host/open-tunnel.ts';
import type { Connections } from './send-request.ts';

/** Of one registry: three layers, and requests for manifests. */
const maxSockets = 6;
/** Without a byte, as of dockershim's image-pull-progress-deadline. */
const defaultStallMs = 60_000;

export type OpenConnections = Connections & { readonly close: () => void };

export type ConnectionsOptions = {
  readonly stallMs?: number;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
};

type Done = (error: Error | null, socket?: Duplex) => void;

/** Throws ProxyUrlError at the first request through a proxy that cannot be used. */
export function openConnections({
  stallMs = defaultStallMs,
  env = {},
}: ConnectionsOptions): OpenConnections {
  const variables = readProxyVariables(env);
  const proxyFor = (protocol: 'http' | 'https', { host, port }: ClientRequestArgs) => {
    if (variables === undefined) return undefined;
    const authority = `${host?.includes(':') ? `[${host}]` : host}:${port}`;
    return chooseProxy({ server: `${protocol}://${authority}`, proxyVariables: variables });
  };
  const options = { keepAlive: true, maxSockets, timeout: stallMs };
  const http = new HttpAgent(options);
  const https = new HttpsAgent(options);
  if (variables !== undefined) {
    throughProxy(
      http,
      (to) => proxyFor('http', to),
      stallMs,
      (socket) => socket,
    );
    throughProxy(
      https,
      (to) => proxyFor('https', to),
      stallMs,
      (socket, to) => connectTls({ ...(to as ConnectionOptions), socket }),
    );
  }
  return {
    ...{ http, https, stallMs },
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
}

type Agent = { createConnection: (options: ClientRequestArgs, done: Done) => Duplex | undefined };

/** An agent may answer later, by its callback; Node's types do not say so. */
function throughProxy(
  agent: HttpAgent,
  proxyFor: (to: ClientRequestArgs) => ProxyServer | undefined,
  stallMs: number,
  secure: (socket: Duplex, to: ClientRequestArgs) => Duplex,
): void {
  const own = agent as unknown as Agent;
  const connectDirectly = own.createConnection.bind(agent);
  own.createConnection = (to, done) => {
    const proxy = proxyFor(to);
    if (proxy === undefined) return connectDirectly(to, done);
    const { host = '', port = '' } = to;
    const signal = AbortSignal.timeout(stallMs);
    openTunnel({ ...{ proxy, signal, tls: {} }, host: host ?? '', port: Number(port) })
      .then((socket) => done(null, secure(socket, to)))
      .catch((error: unknown) => done(error as Error));
    return undefined;
  };
}
