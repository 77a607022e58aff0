// Watches the API server and reports changes of names in small batches.
import type { ApiCaller } from '../client/api-call.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { waitForSync } from '../client/shared-informers.ts';
import type { Clock } from '../host/clock.ts';
import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import { namespaceDefinition } from '../kinds/namespace/definition.ts';
import type { Position, Revisions } from '../kinds/part/position.ts';
import { createPositionTracker, type PositionTracker } from '../kinds/part/position-tracker.ts';
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
  /** Pods cost memory: watched only where a feature needs them. */
  readonly watchPods: boolean;
  /** Whether endpoints have names. */
  readonly watchEndpoints: boolean;
  /** Only objects with these labels have names. */
  readonly labelSelector?: string;
  /** Only these namespaces have names; absent: all. */
  readonly namespaces?: readonly string[];
  /** Only namespaces with these labels have names. */
  readonly namespaceSelector?: string;
  readonly metrics: SyncMetrics;
  readonly changed: (changes: readonly ZoneChange[]) => void;
};

export type Watching = {
  /** Which changes were reported. */
  readonly position: (requested: Revisions) => Position;
  /** Resolves when the initial state has been reported; false when the signal was aborted first. */
  readonly synced: Promise<boolean>;
  /** The current state as changes, for an answering thread that was restarted. */
  readonly snapshot: () => Iterable<ZoneChange>;
  readonly ended: Promise<void>;
};

/** Changes per message: the answering thread answers queries between two messages. */
const changesPerMessage = 500;

export function watchCluster(options: WatchOptions, signal: AbortSignal): Watching {
  const { caller, log, namespaces } = options;
  const clock = withMaxWait(options.clock);
  const start = { caller, clock, log };
  const selected = selectorOption(options.labelSelector);
  const services = startInformer(
    { ...start, ...selected, type: serviceDefinition, trim: trimService },
    signal,
  );
  const slices = options.watchEndpoints
    ? sliceSource({ ...options, clock }, services, signal)
    : undefined;
  const tracker = createPositionTracker({
    seen: () => ({ services: versionOf(services), slices: versionOf(slices?.informer) }),
    now: options.clock.now,
  });
  const batcher = createBatcher(options, tracker);
  const sources: readonly Source[] = [
    source(
      startInformer(
        {
          ...start,
          ...selectorOption(options.namespaceSelector),
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
    ...(slices === undefined ? [] : [slices]),
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
  for (const { follow } of sources) follow(batcher.add);
  const synced = waitForSync(
    sources.map(({ informer }) => informer),
    signal,
  ).then((isSynced) => {
    batcher.flush();
    return isSynced;
  });
  return {
    synced,
    position: tracker.position,
    *snapshot() {
      for (const { snapshot } of sources) yield* snapshot();
    },
    ended: Promise.all(sources.map(({ informer }) => informer.ended)).then(() => {}),
  };
}

function selectorOption(labelSelector: string | undefined): { readonly labelSelector?: string } {
  return labelSelector === undefined ? {} : { labelSelector };
}

/** Of what is not watched, every change is in effect. */
const versionOf = (informer: Pick<Informer<KubeObject>, 'version'> | undefined): number =>
  informer === undefined ? Number.MAX_SAFE_INTEGER : Number(informer.version() ?? 0);

/** The maximum back-off: names are current again this soon after the API server is back. */
const maxWaitMs = 500;

function withMaxWait(clock: Clock): Clock {
  return { ...clock, after: (ms, call) => clock.after(Math.min(ms, maxWaitMs), call) };
}

type Source = {
  readonly informer: Pick<Informer<KubeObject>, 'synced' | 'hasSynced' | 'version' | 'ended'>;
  readonly follow: (add: (change: ZoneChange) => void) => void;
  readonly snapshot: () => Iterable<ZoneChange>;
};

type SourceRules<T> = {
  /** Undefined: the object was deleted. */
  readonly change: (key: string, object: T | undefined) => ZoneChange;
  readonly observed?: (object: T) => void;
};

function source<T extends KubeObject>(informer: Informer<T>, rules: SourceRules<T>): Source {
  return {
    informer,
    follow(add) {
      const put = (object: T): void => {
        add(rules.change(objectKey(object.metadata), object));
        rules.observed?.(object);
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
      ...selectorOption(options.labelSelector),
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
    observed({ metadata }) {
      const trigger = Date.parse(metadata.annotations?.[triggerTimeAnnotation] ?? '');
      // Changes from before the start are no measure of our latency.
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

/** Batches the changes of one iteration of the event loop. */
function createBatcher({ clock, changed }: WatchOptions, tracker: PositionTracker) {
  let pending: ZoneChange[] = [];
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    const changes = pending;
    pending = [];
    tracker.begin();
    for (let from = 0; from < changes.length; from += changesPerMessage) {
      changed(changes.slice(from, from + changesPerMessage));
    }
    tracker.applied();
  };
  return {
    flush,
    add(change: ZoneChange): void {
      pending.push(change);
      tracker.changed();
      if (isDue) return;
      isDue = true;
      clock.after(0, flush);
    },
  };
}
