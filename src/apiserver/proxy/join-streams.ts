// Two connections become one: what one side says, the other hears, no faster than it listens.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A kubelet's streamingConnectionIdleTimeout. */
const idleMs = 4 * 60 * 60 * 1000;
/** How long the last words may take to be read after the one who said them has gone. */
const lingerMs = 30_000;
/** Peers that vanish without a word are noticed by the system's probes. */
const keepAliveMs = 30_000;

export function joinStreams(client: Duplex, backend: Socket): void {
  lead(client, backend);
  lead(backend, client);
  backend.setTimeout(idleMs, () => backend.destroy());
  for (const side of [client, backend]) {
    if (!(side instanceof Socket)) continue;
    side.setKeepAlive(true, keepAliveMs);
    // A key that is typed goes out now.
    side.setNoDelay(true);
  }
}

/** Whoever ends, ends both; what was said before is still delivered, unless something broke. */
function lead(from: Duplex, to: Duplex): void {
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
