// What has changed since the last sync: which Services to rebuild, and when the changes were triggered.

export type PendingChanges = {
  readonly addServices: (serviceKeys: Iterable<string>) => void;
  readonly addEndpoints: (serviceKey: string, triggeredAt?: number) => void;
  /** The node, the machine or the service ranges may have changed. */
  readonly addNode: () => void;
  /** A sync was requested; the first time counts. */
  readonly queued: (now: number) => void;
  readonly counts: () => { readonly services: number; readonly endpoints: number };
  /** Returns and clears all pending changes. */
  readonly take: () => {
    readonly serviceKeys: ReadonlySet<string>;
    readonly triggers: readonly number[];
    readonly isNodeChanged: boolean;
    /** When the oldest change was queued; absent: no sync was requested. */
    readonly queuedAt?: number;
  };
};

/** Trigger times of one sync: enough for the histogram. */
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
      const changes = {
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
      return changes;
    },
  };
}
