// The transport of a connection, whatever its credentials are.
import type { HttpTransport } from './exchange.ts';
import { openFailoverTransport } from './open-failover-transport.ts';
import { openPluginTransport } from './open-plugin-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import { runExecPlugin, systemPluginWorld } from './run-exec-plugin.ts';

export function openTransport(connection: Connection): HttpTransport {
  const { exec, token, basicAuth } = connection;
  // As client-go: a token or a password of the kubeconfig takes precedence.
  if (exec === undefined || token !== undefined || basicAuth !== undefined) {
    return openFailoverTransport(connection);
  }
  return openPluginTransport({
    connection,
    runPlugin: (signal) => runExecPlugin(exec, connection, systemPluginWorld(), signal),
  });
}
