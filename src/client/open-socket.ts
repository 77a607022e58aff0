// Opens connections to a server, directly or through a proxy. One time limit covers all steps.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  rootCertificates,
  type TLSSocket,
} from 'node:tls';
import { chooseProxy, type ProxyServer } from '../host/choose-proxy.ts';
import { dialProxy, openTunnel, ProxyError } from '../host/open-tunnel.ts';
import { ConnectTimeoutError, type ExchangeOptions, endpointOf, tlsOptions } from './exchange.ts';
import type { Connection } from './read-kubeconfig.ts';

export async function openTlsSocket(
  { connection, limits }: ExchangeOptions,
  protocols: readonly string[],
): Promise<TLSSocket> {
  const { host, port } = endpointOf(connection);
  const proxy = chooseProxy(connection);
  return within(connection, limits.connectMs, async (signal) => {
    const tunnel = proxy === undefined ? undefined : await tunnelTo(connection, proxy, signal);
    const socket = connectTls({
      ...tlsOptions(connection),
      ...(tunnel === undefined ? { host, port } : { socket: tunnel }),
      ALPNProtocols: [...protocols],
    });
    const abort = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await once(socket, 'secureConnect');
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  });
}

/** To a server without TLS: a tunnel through a SOCKS proxy; an HTTP proxy forwards single requests instead. */
export function openPlainSocket(
  { connection, limits }: ExchangeOptions,
  proxy: ProxyServer,
): Promise<Socket> {
  return within(connection, limits.connectMs, (signal) =>
    proxy.protocol === 'socks5'
      ? tunnelTo(connection, proxy, signal)
      : dialProxy({ ...tunnelOptions(connection, proxy), signal }).catch((error: Error) => {
          signal.throwIfAborted();
          throw new ProxyError(proxy, `cannot be used: ${error.message}`, { cause: error });
        }),
  );
}

function tunnelTo(
  connection: Connection,
  proxy: ProxyServer,
  signal: AbortSignal,
): Promise<Socket> {
  return openTunnel({ ...tunnelOptions(connection, proxy), signal });
}

function tunnelOptions(connection: Connection, proxy: ProxyServer) {
  const { host, port } = endpointOf(connection);
  return { proxy, host, port, tls: proxyTls(connection) };
}

/** As in client-go, the authority of the cluster may have signed the certificate of the proxy. Its credentials are for the server only. */
function proxyTls({ certificateAuthority, skipTlsVerification }: Connection): ConnectionOptions {
  return {
    rejectUnauthorized: !skipTlsVerification,
    ...(certificateAuthority === undefined
      ? {}
      : { ca: [...rootCertificates, certificateAuthority] }),
  };
}

async function within<T>(
  { server }: Connection,
  ms: number,
  open: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new ConnectTimeoutError(server, ms)), ms);
  try {
    return await open(late.signal);
  } finally {
    clearTimeout(timer);
  }
}
