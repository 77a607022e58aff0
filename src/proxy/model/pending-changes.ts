// What has changed since the last sync: whose objects to look at again, and when what led to it happened.

export type PendingChanges = {
  readonly addServices: (serviceKeys: Iterable<string>) => void;
  readonly addEndpoints: (serviceKey: string, triggeredAt?: number) => void;
  /** The node, the machine or the service ranges may be others than before. */
  readonly addNode: () => void;
  /** Something was asked for; the first such time counts. */
  readonly queued: (now: number) => void;
  readonly counts: () => { readonly services: number; readonly endpoints: number };
  /** All of it; afterwards nothing is pending. */
  readonly take: () => {
    readonly serviceKeys: ReadonlySet<string>;
    readonly triggers: readonly number[];
    readonly isNodeChanged: boolean;
    /** Since when the oldest of it has waited; absent: nobody asked. */
    readonly queuedAt?: number;
  };
};

/** Times kept for one sync: enough for a histogram, whatever storm comes. */
const maxTriggers = 10_000;

export function createPendingChanges(): PendingChanges {
  let services = new Set<string>();
  let endpoints = new Set<string>();
  let triggers: number[] = [];
  let isNodeChanged = false;
  let queuedAt: number | undefined;
  return {
    addServices(keys) {
      for (const key of keys) services.add(key);
    },
    addEndpoints(key, triggeredAt) {
      endpoints.add(key);
      if (triggeredAt !== undefined && triggers.length < maxTriggers) triggers.push(triggeredAt);
    },
    addNode() {
      isNodeChanged = true;
    },
    queued(now) {
      queuedAt ??= now;
    },
    counts: () => ({ services: services.size, endpoints: endpoints.size }),
    take() {
      const taken = {
        serviceKeys: new Set([...services, ...endpoints]),
        triggers,
        isNodeChanged,
        ...(queuedAt === undefined ? {} : { queuedAt }),
      };
      queuedAt = undefined;
      services = new Set();
      endpoints = new Set();
      triggers = [];
      isNodeChanged = false;
      return taken;
    },
  };
}
