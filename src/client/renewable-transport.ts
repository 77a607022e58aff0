// A connection whose credentials change while it is in use: new requests go out under the new ones, watches and requests under
// way end in their own time.
import type { HttpTransport } from './http-transport.ts';
import { openTransport } from './open-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport } from './transport.ts';

export type RenewableTransport = Transport & {
  readonly use: (connection: Connection) => void;
};

export function createRenewableTransport(connection: Connection): RenewableTransport {
  let current: HttpTransport = openTransport(connection);
  /** One for each renewal, which are months apart: they only hold what is still open. */
  const retired: HttpTransport[] = [];
  return {
    send: (request) => current.send(request),
    use(renewed) {
      current.retire();
      retired.push(current);
      current = openTransport(renewed);
    },
    async close() {
      await Promise.all([current, ...retired].map((one) => one.close()));
    },
  };
}
