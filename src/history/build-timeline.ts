// Replays the changes of a Service and of what is behind it, and says what happened. Revisions give the order: clocks may be set back.
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { KubeObject } from '../meta/object.ts';
import { printable } from '../meta/printable.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import { describeNodeChange, nodeFacts } from './describe-node.ts';
import { type Described, describePodChange, podFacts } from './describe-pod.ts';
import { describeServiceChange, serviceFacts, serviceText } from './describe-service.ts';
import type { EndpointFacts, EventType, History, HistoryEvent, ServiceState } from './history.ts';
import type { PastChange, PastState, ServicePast } from './past.ts';
import { createEndpointTable, type EndpointTable } from './track-endpoints.ts';
import { type Availability, createOutageTracker } from './track-outages.ts';

export function buildTimeline(past: ServicePast): History {
  const { namespace, name, fromMs, toMs, shortened, changes, unread } = past;
  const replay = startReplay(past.start, name);
  const start = replay.state();
  const tracker = createOutageTracker(replay.availability(), fromMs);
  const events: HistoryEvent[] = [];
  for (const group of byRevision(changes)) {
    for (const change of group) events.push(...replay.apply(change));
    const last = group.at(-1);
    if (last === undefined) continue;
    for (const one of tracker.follow(replay.availability(), last.timeMs)) {
      events.push(eventOf(one, { ...last, kind: 'Service', name }));
    }
  }
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'History', namespace, service: name },
    ...{ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
    ...(shortened === undefined ? {} : { shortened }),
    ...{ start, end: replay.state(), events, outages: tracker.outages(toMs), unread },
  };
}

/** A transaction may change several objects. */
function byRevision(changes: readonly PastChange[]): readonly (readonly PastChange[])[] {
  const groups: PastChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last?.[0]?.revision === change.revision) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

type About = Pick<PastChange, 'timeMs' | 'revision' | 'user' | 'manager' | 'kind'> & {
  readonly name: string;
};

type EventFacts = Described &
  Pick<HistoryEvent, 'field' | 'before' | 'after'> & { readonly endpoint?: EndpointFacts };

/** These follow from changes, and are made by no one. */
const judgements: ReadonlySet<EventType> = new Set([
  ...(['FirstEndpointReady', 'LastReadyEndpointLost', 'OutageBegan', 'OutageEnded'] as const),
]);

/** Sentences contain what others wrote, and are for terminals. */
function eventOf({ sentence, ...rest }: EventFacts, about: About): HistoryEvent {
  const { timeMs, revision, user, manager, kind, name } = about;
  const isJudgement = judgements.has(rest.type);
  return {
    ...{ time: new Date(timeMs).toISOString(), resourceVersion: revision },
    ...rest,
    sentence: printable(sentence),
    object: { kind, name },
    ...(user === undefined || isJudgement ? {} : { user }),
    ...(manager === undefined || isJudgement ? {} : { manager }),
  };
}

type Replay = {
  readonly apply: (change: PastChange) => readonly HistoryEvent[];
  readonly availability: () => Availability;
  readonly state: () => ServiceState;
};

type Objects<T> = Map<string, T>;
type Live = {
  service: Service | undefined;
  deletedAtMs: number | undefined;
  readonly slices: Objects<EndpointSlice>;
  readonly pods: Objects<Pod>;
  readonly nodes: Objects<Node>;
  readonly table: EndpointTable;
};

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? '';
const named = <T extends KubeObject>(objects: readonly T[]): Objects<T> =>
  new Map(objects.map((object) => [nameOf(object), object]));

function startReplay(start: PastState, name: string): Replay {
  const live: Live = {
    ...{ service: start.service, deletedAtMs: undefined },
    ...{ slices: named(start.slices), pods: named(start.pods), nodes: named(start.nodes) },
    table: createEndpointTable(() => (live.service?.spec.ports ?? []).length > 0),
  };
  for (const slice of start.slices) live.table.apply(undefined, slice);
  return {
    apply: (change) => describe(change, live, name),
    availability: () => ({
      counts: live.table.counts(),
      service: live.service && { needsEndpoints: live.service.spec.type !== 'ExternalName' },
    }),
    state: () => stateOf(live),
  };
}

function describe(change: PastChange, live: Live, service: string): readonly HistoryEvent[] {
  const about: About = { ...change, name: nameOf(change.object) };
  return describeKind(change, live, service).map((one) => eventOf(one, about));
}

function describeKind(change: PastChange, live: Live, service: string): readonly EventFacts[] {
  switch (change.kind) {
    case 'Service':
      return replayService(change, live);
    case 'EndpointSlice': {
      const after = afterOf<EndpointSlice>(change);
      // A slice may be given to another Service.
      const own = after?.metadata.labels?.[serviceNameLabel] === service ? after : undefined;
      return live.table.apply(replace(live.slices, change, own), own);
    }
    case 'Pod': {
      const after = afterOf<Pod>(change);
      const before = replace(live.pods, change, after);
      return describePodChange({ before, after, selector: live.service?.spec.selector });
    }
    case 'Node': {
      const after = afterOf<Node>(change);
      return describeNodeChange(replace(live.nodes, change, after), after);
    }
    case 'Endpoints':
      return [endpointsChange(change)];
  }
}

const afterOf = <T extends KubeObject>({ type, object }: PastChange): T | undefined =>
  type === 'Deleted' ? undefined : (object as T);

/** Returns the version before. */
function replace<T extends KubeObject>(
  objects: Objects<T>,
  { object }: PastChange,
  after: T | undefined,
): T | undefined {
  const name = nameOf(object);
  const before = objects.get(name);
  if (after === undefined) objects.delete(name);
  else objects.set(name, after);
  return before;
}

function replayService(change: PastChange, live: Live): readonly EventFacts[] {
  const after = afterOf<Service>(change);
  const before = live.service;
  live.service = after;
  if (after === undefined) {
    live.deletedAtMs = change.timeMs;
    const level = live.table.counts().ready > 0 ? 'bad' : 'warning';
    return [{ type: 'ServiceDeleted', level, sentence: 'Service deleted' }];
  }
  if (before === undefined) {
    const again = live.deletedAtMs === undefined ? '' : ' again';
    const sentence = `Service created${again}: ${serviceText(serviceFacts(after))}`;
    return [{ type: 'ServiceCreated', level: 'info', sentence }];
  }
  return describeServiceChange(before, after).map((one) => ({
    ...{ type: 'ServiceChanged', level: 'info' },
    ...one,
  }));
}

function endpointsChange({ type }: PastChange): EventFacts {
  const verb = { Created: 'created', Updated: 'changed', Deleted: 'deleted' }[type];
  const sentence = `Endpoints object of the Service ${verb}`;
  return { type: 'EndpointsObjectChanged', level: 'info', sentence };
}

function stateOf({ service, pods, nodes, table }: Live): ServiceState {
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
    a.name < b.name ? -1 : 1;
  return {
    ...(service === undefined ? {} : { service: serviceFacts(service) }),
    endpoints: [...table.facts()].sort((a, b) => (a.address < b.address ? -1 : 1)),
    pods: [...pods.values()].map(podFacts).sort(byName),
    nodes: [...nodes.values()].map(nodeFacts).sort(byName),
  };
}

/** The state alone, of one moment. */
export const serviceState = (state: PastState, name: string): ServiceState =>
  startReplay(state, name).state();
