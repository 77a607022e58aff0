// Watches the API server and says, in small steps, what changed about names.
import type { ApiCaller } from '../client/api-call.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { waitForSync } from '../client/shared-informers.ts';
import type { Clock } from '../host/clock.ts';
import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import { namespaceDefinition } from '../kinds/namespace/definition.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { triggerTimeAnnotation } from '../meta/well-known-annotations.ts';
import type { Log } from '../observe/log.ts';
import { podFacts, type SliceOptions, serviceFacts, sliceFacts } from './cluster/facts.ts';
import type { ZoneChange } from './cluster/zone.ts';
import type { SyncMetrics } from './metrics.ts';
import { trimNamespace, trimPod, trimService, trimSlice } from './trim.ts';

export type WatchOptions = SliceOptions & {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  /** Pods cost memory: only where somebody wants to know them. */
  readonly watchPods: boolean;
  /** Whether endpoints have names at all. */
  readonly watchEndpoints: boolean;
  /** Only what has these labels has names. */
  readonly labelSelector?: string;
  /** Only what is in these namespaces has names; absent: in all. */
  readonly namespaces?: readonly string[];
  /** Only what is in namespaces with these labels has names. */
  readonly namespaceSelector?: string;
  readonly metrics: SyncMetrics;
  readonly changed: (changes: readonly ZoneChange[]) => void;
};

export type Watching = {
  /** Resolves when the whole state has been told; false when the signal came first. */
  readonly synced: Promise<boolean>;
  /** Everything that is known, for an answering thread that starts anew. */
  readonly snapshot: () => Iterable<ZoneChange>;
  readonly ended: Promise<void>;
};

/** Changes that go to the answering thread at once: it answers between two messages. */
const maxAtOnce = 500;

export function watchCluster(options: WatchOptions, signal: AbortSignal): Watching {
  const { caller, log, namespaces } = options;
  const outbox = createOutbox(options);
  const clock = impatient(options.clock);
  const start = { caller, clock, log };
  const selected = selecting(options.labelSelector);
  const services = startInformer(
    { ...start, ...selected, type: serviceDefinition, trim: trimService },
    signal,
  );
  const sources: readonly Source[] = [
    source(
      startInformer(
        {
          ...start,
          ...selecting(options.namespaceSelector),
          type: namespaceDefinition,
          trim: trimNamespace,
        },
        signal,
      ),
      {
        change: (key, object) => ({
          kind: 'namespace',
          key,
          exists: object !== undefined && (namespaces?.includes(key) ?? true),
        }),
      },
    ),
    source(services, {
      change: (key, object) =>
        object === undefined
          ? { kind: 'service', key }
          : { kind: 'service', key, facts: serviceFacts(object) },
    }),
    ...(options.watchEndpoints ? [sliceSource({ ...options, clock }, services, signal)] : []),
    ...(options.watchPods
      ? [
          source(
            startInformer({ ...start, ...selected, type: podDefinition, trim: trimPod }, signal),
            {
              change: (key, object) => {
                const facts = object === undefined ? undefined : podFacts(object);
                return facts === undefined ? { kind: 'pod', key } : { kind: 'pod', key, facts };
              },
            },
          ),
        ]
      : []),
  ];
  for (const { follow } of sources) follow(outbox.add);
  const synced = waitForSync(
    sources.map(({ informer }) => informer),
    signal,
  ).then((isSynced) => {
    outbox.flush();
    return isSynced;
  });
  return {
    synced,
    *snapshot() {
      for (const { snapshot } of sources) yield* snapshot();
    },
    ended: Promise.all(sources.map(({ informer }) => informer.ended)).then(() => {}),
  };
}

function selecting(labelSelector: string | undefined): { readonly labelSelector?: string } {
  return labelSelector === undefined ? {} : { labelSelector };
}

/** Names are right again that soon after the API server is back; asking that often costs it nothing. */
const maxWaitMs = 500;

function impatient(clock: Clock): Clock {
  return { ...clock, after: (ms, call) => clock.after(Math.min(ms, maxWaitMs), call) };
}

type Source = {
  readonly informer: Pick<Informer<KubeObject>, 'synced' | 'hasSynced' | 'ended'>;
  readonly follow: (add: (change: ZoneChange) => void) => void;
  readonly snapshot: () => Iterable<ZoneChange>;
};

type SourceRules<T> = {
  /** Without an object: it is gone. */
  readonly change: (key: string, object: T | undefined) => ZoneChange;
  readonly told?: (object: T) => void;
};

function source<T extends KubeObject>(informer: Informer<T>, rules: SourceRules<T>): Source {
  return {
    informer,
    follow(add) {
      const put = (object: T): void => {
        add(rules.change(objectKey(object.metadata), object));
        rules.told?.(object);
      };
      informer.onChange({
        add: put,
        update: (_before, after) => put(after),
        delete: ({ metadata }) => add(rules.change(objectKey(metadata), undefined)),
      });
    },
    *snapshot() {
      for (const object of informer.store.values()) {
        yield rules.change(objectKey(object.metadata), object);
      }
    },
  };
}

function sliceSource(
  options: WatchOptions,
  services: Informer<Parameters<typeof serviceFacts>[0]>,
  signal: AbortSignal,
): Source {
  const { caller, clock, log, metrics } = options;
  const trim = (slice: EndpointSlice): EndpointSlice => trimSlice(slice, options);
  const informer = startInformer(
    {
      caller,
      clock,
      log,
      ...selecting(options.labelSelector),
      type: endpointSliceDefinition,
      trim,
    },
    signal,
  );
  return source(informer, {
    change(key, object) {
      const facts = object === undefined ? undefined : sliceFacts(object, options);
      return facts === undefined ? { kind: 'slice', key } : { kind: 'slice', key, facts };
    },
    told({ metadata }) {
      const trigger = Date.parse(metadata.annotations?.[triggerTimeAnnotation] ?? '');
      // What was there before us says nothing about how quick we are.
      if (Number.isNaN(trigger) || !informer.hasSynced()) return;
      const service = services.store.get(`${metadata.namespace}/${serviceOf(metadata.labels)}`);
      const hasSelector = Object.keys(service?.spec?.selector ?? {}).length > 0;
      if (service?.spec?.clusterIP === 'None' && hasSelector) {
        metrics.programmed(Math.max(clock.now() - trigger, 0) / 1000);
      }
    },
  });
}

function serviceOf(labels: Readonly<Record<string, string>> | undefined): string {
  return Object.values(labels ?? {})[0] ?? '';
}

/** Collects what one turn of the event loop brings, and sends it at its end. */
function createOutbox({ clock, changed }: WatchOptions) {
  let waiting: ZoneChange[] = [];
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    const changes = waiting;
    waiting = [];
    for (let from = 0; from < changes.length; from += maxAtOnce) {
      changed(changes.slice(from, from + maxAtOnce));
    }
  };
  return {
    flush,
    add(change: ZoneChange): void {
      waiting.push(change);
      if (isDue) return;
      isDue = true;
      clock.after(0, flush);
    },
  };
}
