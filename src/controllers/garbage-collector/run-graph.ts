// Keeps the graph: one informer of metadata for each resource that the server has, found again from time to time.
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { type Informer, startInformer } from '../../client/informer.ts';
import type { ResourceNames } from '../../client/resource.ts';
import { sleep } from '../../host/clock.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ControllerParts } from '../controller.ts';
import { createGraph, type Graph, type GraphNode, trimmed } from './graph.ts';

export type GraphFeed = {
  readonly graph: Graph;
  /** The resources known now, in all versions. */
  readonly resources: () => readonly ResourceNames[];
  /** Resolves when the first state is whole, or has had its time. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
};

/** Told after the graph has the change; one of the two is absent when the object has come or gone. */
export type NodeChange = (before: GraphNode | undefined, after: GraphNode | undefined) => void;

/** Resources come and go with the extensions of a server. */
const rediscoverMs = 30_000;
/** After a failure; until the first discovery nothing is collected at all. */
const retryMs = 1000;
/** A resource that we may not read must not stop the rest; what it would tell is asked from the server. */
const maxSyncMs = 10_000;

export function startGraph(
  parts: ControllerParts,
  onChange: NodeChange,
  signal: AbortSignal,
): GraphFeed {
  const graph = createGraph();
  const followed = new Map<
    string,
    { readonly stop: AbortController; readonly informer: Informer<KubeObject> }
  >();
  let resources: readonly DiscoveredResource[] = [];
  let becomeReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  const follow = (resource: DiscoveredResource): void => {
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    const informer = startInformer(
      {
        caller: parts.caller,
        type: resource,
        metadataOnly: true,
        trim: trimmed,
        clock: parts.clock,
        log: parts.log,
      },
      until,
    );
    feed(graph, resource, informer, onChange);
    followed.set(keyOf(resource), { stop, informer });
  };
  const refresh = async (): Promise<void> => {
    resources = await discover(parts.caller, signal);
    const wanted = new Map(
      resources.filter(isCollectable).map((resource) => [keyOf(resource), resource]),
    );
    for (const [key, { stop }] of followed) {
      if (wanted.has(key)) continue;
      stop.abort();
      followed.delete(key);
    }
    for (const [key, resource] of wanted) if (!followed.has(key)) follow(resource);
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      let waitMs = rediscoverMs;
      try {
        await refresh();
        const synced = Promise.all([...followed.values()].map(({ informer }) => informer.synced()));
        await Promise.race([synced, sleep(parts.clock, maxSyncMs, signal)]);
        becomeReady();
      } catch (error) {
        waitMs = retryMs;
        if (!signal.aborted)
          parts.log.warn('resources could not be discovered', { error: String(error) });
      }
      await sleep(parts.clock, waitMs, signal);
    }
    becomeReady();
    await Promise.all([...followed.values()].map(({ informer }) => informer.ended));
  };
  return { graph, resources: () => resources, ready, ended: run() };
}

const keyOf = ({ group, version, plural }: ResourceNames): string =>
  `${group}/${version}/${plural}`;

/** Events are many, short-lived and own nothing. */
function isCollectable({ plural, verbs, preferred }: DiscoveredResource): boolean {
  return (
    preferred &&
    plural !== 'events' &&
    ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb))
  );
}

function feed(
  graph: Graph,
  resource: ResourceNames,
  informer: Informer<KubeObject>,
  onChange: NodeChange,
): void {
  const put = (object: KubeObject): void => {
    const after = { resource, uid: object.metadata.uid ?? '', object };
    onChange(graph.put(after), after);
  };
  const drop = ({ metadata }: KubeObject): void => {
    const before = graph.remove(metadata.uid ?? '');
    if (before !== undefined) onChange(before, undefined);
  };
  informer.onChange({
    add: put,
    update(before, after) {
      // Deleted and made anew under the same name while nobody looked.
      if (before.metadata.uid !== after.metadata.uid) drop(before);
      put(after);
    },
    delete: drop,
  });
}
