// A transport whose credentials can be replaced while it is in use: new requests use the new credentials; watches and requests in
// flight complete with the previous ones.
import type { HttpTransport } from './exchange.ts';
import { openTransport } from './open-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport } from './transport.ts';

export type RenewableTransport = Transport & {
  readonly use: (connection: Connection) => void;
};

/** Watches last at most ten minutes, and credentials are read every minute: older transports are no longer in use. */
const maxRetired = 10;

export function createRenewableTransport(connection: Connection): RenewableTransport {
  let current: HttpTransport = openTransport(connection);
  let retired: readonly HttpTransport[] = [];
  return {
    send: (request) => current.send(request),
    use(renewed) {
      current.retire();
      for (const old of retired.slice(0, -maxRetired + 1)) void old.close();
      retired = [...retired.slice(-maxRetired + 1), current];
      current = openTransport(renewed);
    },
    async close() {
      await Promise.all([current, ...retired].map((one) => one.close()));
    },
  };
}
