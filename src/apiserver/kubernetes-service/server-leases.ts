// The API servers that share a store: each has a key there that expires when its server does not renew it. Upstream:
// pkg/controlplane/reconcilers/lease.go.
import type { Log } from '../../observe/log.ts';
import type { Store } from '../../storage/store.ts';
import type { Advertised } from './objects.ts';

export type ServerLeases = {
  /** This one, and those that have renewed their key in time. */
  readonly all: () => Promise<readonly Advertised[]>;
  /** Calls back when a server came or went. */
  readonly listen: (listener: () => void) => void;
  /** Deletes the key at once, without waiting for its expiry. */
  readonly leave: () => Promise<void>;
};

const prefix = '/masterleases/';
/** Upstream's; a server may miss one renewal and be late with the next. */
const ttlSeconds = 15;
const renewMs = 5000;

/** For a store that only this server writes. */
export function singleServer(self: Advertised): ServerLeases {
  return { all: async () => [self], listen: () => {}, leave: async () => {} };
}

export async function startServerLease(
  store: Store,
  self: Advertised,
  log: Log,
): Promise<ServerLeases> {
  const key = `${prefix}${self.address}:${self.port}`;
  const value = Buffer.from(JSON.stringify(self));
  const listeners = new Set<() => void>();
  let hasLeft = false;
  const renew = async (): Promise<void> => {
    await store.transact({ compare: [], write: [{ put: key, value, ttlSeconds }] });
  };
  await renew();
  const timer = setInterval(() => {
    renew().catch((error: unknown) =>
      log.warn('Failed to renew server lease, retrying', { error: String(error) }),
    );
  }, renewMs);
  timer.unref();
  const stopListening = store.subscribe((events) => {
    const hasChanged = events.some(
      (event) =>
        event.key.startsWith(prefix) &&
        (event.type === 'delete' || event.createRevision === event.revision),
    );
    if (hasChanged) for (const listener of listeners) listener();
  });
  return {
    async all() {
      const { entries } = await store.list(prefix);
      const others = entries.filter((entry) => entry.key !== key).map((e) => decodeServer(e.value));
      return [...(hasLeft ? [] : [self]), ...others.flatMap((other) => other ?? [])];
    },
    listen: (listener) => void listeners.add(listener),
    async leave() {
      hasLeft = true;
      clearInterval(timer);
      stopListening();
      await store.transact({ compare: [], write: [{ delete: key }] });
    },
  };
}

/** Undefined for a value in another format, as of another version. */
function decodeServer(value: Uint8Array): Advertised | undefined {
  try {
    const { address, port } = JSON.parse(Buffer.from(value).toString('utf8')) as Record<
      string,
      unknown
    >;
    return typeof address === 'string' && typeof port === 'number' ? { address, port } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
