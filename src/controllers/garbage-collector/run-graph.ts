// Keeps the graph up to date: one metadata informer for each resource, discovered periodically.
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { type Informer, startInformer } from '../../client/informer.ts';
import type { ResourceNames } from '../../client/resource.ts';
import { sleep } from '../../host/clock.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ControllerParts } from '../controller.ts';
import { createGraph, type Graph, type GraphNode, trimmed } from './graph.ts';

export type GraphFeed = {
  readonly graph: Graph;
  /** The resources of the last discovery, in all versions. */
  readonly resources: () => readonly ResourceNames[];
  /** Resolves when the first lists are complete or have timed out. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
};

/** Called after the graph was updated; `before` is absent for additions, `after` for deletions. */
export type NodeChange = (before: GraphNode | undefined, after: GraphNode | undefined) => void;

/** Resources come and go with custom resource definitions. */
const rediscoverMs = 30_000;
/** After a failure; nothing is collected before the first successful discovery. */
const retryMs = 1000;
/** A resource without read permission must not stop the others; its owners are read from the server one by one. */
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
          parts.log.warn('Failed to discover resources, retrying', { error: String(error) });
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

/** Events are many, short-lived and have no dependents. */
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
      // Deleted and created again under the same name between two lists.
      if (before.metadata.uid !== after.metadata.uid) drop(before);
      put(after);
    },
    delete: drop,
  });
}
