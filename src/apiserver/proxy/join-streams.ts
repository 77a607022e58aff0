// Joins two connections: each side gets what the other sends, with backpressure.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A kubelet's streamingConnectionIdleTimeout. */
const idleMs = 4 * 60 * 60 * 1000;
/** How long the rest may take to be read after its sender has closed. */
const lingerMs = 30_000;
/** TCP keep-alive detects peers that vanish without closing. */
const keepAliveMs = 30_000;

export function joinStreams(client: Duplex, backend: Socket): void {
  pipe(client, backend);
  pipe(backend, client);
  backend.setTimeout(idleMs, () => backend.destroy());
  for (const side of [client, backend]) {
    if (!(side instanceof Socket)) continue;
    side.setKeepAlive(true, keepAliveMs);
    // Keystrokes are sent at once.
    side.setNoDelay(true);
  }
}

/** When one side closes, so does the other; what was sent before is still delivered, unless a connection failed. */
function pipe(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) {
      to.destroy();
      return;
    }
    const timer = setTimeout(() => to.destroy(), lingerMs).unref();
    to.once('close', () => clearTimeout(timer));
  });
}
