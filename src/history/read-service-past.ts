// Reads what is known of a Service's past: the objects at the start of a period, and their changes since. What the user may not read is
// recorded and left out.
import type { ApiCaller } from '../client/api-call.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { isNotFound } from '../meta/api-error.ts';
import { formatLabelMap } from '../meta/labels.ts';
import { formatLocalTime } from '../meta/local-time.ts';
import type { KubeObject } from '../meta/object.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import {
  type HistoryScope,
  type KeptKind,
  type ObjectChanges,
  type PastMoment,
  readChanges,
  readHistoryClock,
  readPastObjects,
} from '../snapshot/read-history.ts';
import { unreadBecause } from '../snapshot/read-snapshot.ts';
import type { Unread } from '../snapshot/snapshot.ts';
import type { PastChange, PastKind, PastState, ServicePast } from './past.ts';
import { createTrimmer, type Trim } from './trim-past.ts';

export type ServicePastRequest = {
  readonly namespace: string;
  readonly name: string;
  /** On the clock of the server. */
  readonly sinceMs: number;
  readonly nowMs: number;
  /** Of one kind; where there were more, the oldest are left out. */
  readonly maxChanges?: number;
  readonly signal?: AbortSignal;
};

export type ServiceMomentRequest = Pick<ServicePastRequest, 'namespace' | 'name' | 'signal'> & {
  readonly atMs: number;
};

/** Some hundred megabytes at most, and more than people read. */
const defaultMaxChanges = 20_000;
/** A Service rarely has more than one selector within the time that is retained. */
const maxSelectors = 8;
/** Of endpoints that no selector finds, and of nodes: more are listed instead. */
const maxNamed = 20;

type Reader = {
  readonly caller: ApiCaller;
  readonly namespace: string;
  readonly name: string;
  readonly trim: Trim;
  readonly maxChanges: number;
  readonly signal: AbortSignal | undefined;
  readonly unread: Map<KeptKind, Unread>;
};

type ReaderRequest = Pick<ServicePastRequest, 'namespace' | 'name' | 'maxChanges' | 'signal'>;

function readerOf(
  caller: ApiCaller,
  { namespace, name, maxChanges = defaultMaxChanges, signal }: ReaderRequest,
): Reader {
  return {
    ...{ caller, namespace, name, maxChanges, signal },
    ...{ trim: createTrimmer(), unread: new Map() },
  };
}

/** Throws ApiErrors for the Service itself, and HistoryUnavailable. */
export async function readServicePast(
  caller: ApiCaller,
  request: ServicePastRequest,
): Promise<ServicePast> {
  const { namespace, name, sinceMs, nowMs } = request;
  const reader = readerOf(caller, request);
  const { maxChanges } = reader;
  const scope = serviceScope(reader);
  const { since } = await readHistoryClock(caller, scope);
  const services = await readChanges(caller, scope, { sinceMs, maxChanges: reader.maxChanges });
  const slices = await changesOf(reader, sliceScope(reader), sinceMs);
  // What there was at the start is known only when it is known where the start is.
  const first = startOf([services, slices], { since, sinceMs, maxChanges });
  const start = await objectsAt(reader, first.moment);
  const selected = await podsSince(reader, { start, services, slices }, sinceMs);
  const begin = startOf([services, slices, ...selected.changes], { since, sinceMs, maxChanges });
  const isSame = begin.timeMs === first.timeMs;
  const state = isSame ? start : await objectsAt(reader, begin.moment);
  const pods = await podsAt(reader, selected.scopes, begin.moment);
  const names = nodeNames([...state.slices, ...objectsOf(slices)], [...pods, ...selected.pods]);
  const nodes = await nodesSince(reader, names, { sinceMs, moment: begin.moment });
  const written = await endpointsSince(reader, state, sinceMs);
  const all = [
    ...of('Service', [services]),
    ...of('Endpoints', [written]),
    ...of('EndpointSlice', [slices]),
    ...of('Pod', selected.changes),
    ...of('Node', nodes.changes),
  ];
  return {
    ...{ namespace, name, fromMs: begin.timeMs, toMs: nowMs },
    ...(begin.shortened === undefined ? {} : { shortened: begin.shortened }),
    start: { ...state, pods, nodes: nodes.start },
    changes: inOrder(all, begin),
    unread: [...reader.unread.values()],
  };
}

/** The state of one moment. */
export async function readServiceMoment(
  caller: ApiCaller,
  request: ServiceMomentRequest,
): Promise<{ readonly state: PastState; readonly unread: readonly Unread[] }> {
  const reader = readerOf(caller, request);
  const moment = { timeMs: request.atMs };
  const state = await objectsAt(reader, moment);
  const scopes = podScopes(reader, [state.service], state.slices);
  const pods = await podsAt(reader, scopes, moment);
  const nodes = await nodesAt(reader, nodeNames(state.slices, pods), moment);
  return { state: { ...state, pods, nodes }, unread: [...reader.unread.values()] };
}

const common = ({ signal, trim }: Reader) => ({
  transform: trim,
  ...(signal === undefined ? {} : { signal }),
});

const serviceScope = (reader: Reader): HistoryScope => ({
  ...{ kind: 'services', namespace: reader.namespace, name: reader.name },
  ...common(reader),
});

const sliceScope = (reader: Reader): HistoryScope => ({
  ...{ kind: 'endpointSlices', namespace: reader.namespace },
  ...{ labelSelector: `${serviceNameLabel}=${reader.name}`, ...common(reader) },
});

const nothing: ObjectChanges = { changes: [], since: { timeMs: 0, revision: '0' }, isCut: false };

/** Of a kind that the user may not read, there are none, which is recorded. */
async function permitted<T>(
  { unread, namespace }: Reader,
  { kind }: HistoryScope,
  otherwise: T,
  read: () => Promise<T>,
): Promise<T> {
  if (unread.has(kind)) return otherwise;
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error)) return otherwise;
    unread.set(kind, unreadBecause(error, { kind, ...(kind === 'nodes' ? {} : { namespace }) }));
    return otherwise;
  }
}

const changesOf = (reader: Reader, scope: HistoryScope, sinceMs: number): Promise<ObjectChanges> =>
  permitted(reader, scope, nothing, () =>
    readChanges(reader.caller, scope, { sinceMs, maxChanges: reader.maxChanges }),
  );

const pastOf = <T extends KubeObject>(
  reader: Reader,
  scope: HistoryScope,
  moment: PastMoment,
): Promise<readonly T[]> =>
  permitted(reader, scope, [], async () => {
    return (await readPastObjects(reader.caller, scope, moment)).items as readonly T[];
  });

/** The Service and its slices. */
async function objectsAt(reader: Reader, moment: PastMoment): Promise<PastState> {
  const [service] = await pastService(reader, moment);
  const slices = await pastOf<EndpointSlice>(reader, sliceScope(reader), moment);
  return {
    ...(service === undefined ? {} : { service: service as Service }),
    ...{ slices, pods: [], nodes: [] },
  };
}

async function pastService(reader: Reader, moment: PastMoment): Promise<readonly KubeObject[]> {
  try {
    return (await readPastObjects(reader.caller, serviceScope(reader), moment)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

type Begin = {
  readonly timeMs: number;
  readonly moment: PastMoment;
  readonly shortened?: string;
};

type Requested = {
  readonly since: ObjectChanges['since'];
  readonly sinceMs: number;
  readonly maxChanges: number;
};

/** Where what is known begins: as requested, where history begins, or after what was too much. */
function startOf(all: readonly ObjectChanges[], { since, sinceMs, maxChanges }: Requested): Begin {
  const cuts = all.flatMap(({ isCut, changes }) => (isCut ? (changes[0] ?? []) : []));
  const latest = cuts.sort((a, b) => Number(b.revision) - Number(a.revision))[0];
  if (latest !== undefined) {
    const text = `there were more than ${maxChanges} changes: shown from ${formatLocalTime(latest.timeMs)} on`;
    return { timeMs: latest.timeMs, moment: { revision: latest.revision }, shortened: text };
  }
  if (since.timeMs <= sinceMs) return { timeMs: sinceMs, moment: { timeMs: sinceMs } };
  const text = `history is known since ${formatLocalTime(since.timeMs)} only`;
  return { timeMs: since.timeMs, moment: { revision: since.revision }, shortened: text };
}

const objectsOf = ({ changes }: ObjectChanges): readonly KubeObject[] =>
  changes.map(({ object }) => object);

type Found = {
  readonly start: PastState;
  readonly services: ObjectChanges;
  readonly slices: ObjectChanges;
};

async function podsSince(reader: Reader, { start, services, slices }: Found, sinceMs: number) {
  const versions = [start.service, ...(objectsOf(services) as readonly Service[])];
  const scopes = podScopes(reader, versions, [...start.slices, ...objectsOf(slices)]);
  const changes = await Promise.all(scopes.map((scope) => changesOf(reader, scope, sinceMs)));
  return { scopes, changes, pods: changes.flatMap(objectsOf) };
}

/** By every selector that the Service had; without one, the pods that its endpoints name. */
function podScopes(
  reader: Reader,
  services: readonly (Service | undefined)[],
  slices: readonly KubeObject[],
): readonly HistoryScope[] {
  const all = { kind: 'pods', namespace: reader.namespace, ...common(reader) } as const;
  const selectors = new Set(
    services.flatMap((service) => {
      const selector = service?.spec.selector ?? {};
      return Object.keys(selector).length === 0 ? [] : [formatLabelMap(selector)];
    }),
  );
  if (selectors.size > 0) {
    return [...selectors]
      .slice(0, maxSelectors)
      .map((labelSelector) => ({ ...all, labelSelector }));
  }
  const names = new Set(slices.flatMap(podNames));
  return [...names].slice(0, maxNamed).map((name) => ({ ...all, name }));
}

const podNames = (slice: KubeObject): readonly string[] =>
  ((slice as EndpointSlice).endpoints ?? []).flatMap(({ targetRef }) =>
    targetRef?.kind === 'Pod' && targetRef.name ? [targetRef.name] : [],
  );

async function podsAt(
  reader: Reader,
  scopes: readonly HistoryScope[],
  moment: PastMoment,
): Promise<readonly Pod[]> {
  const found = await Promise.all(scopes.map((scope) => pastOf<Pod>(reader, scope, moment)));
  return [...new Map(found.flat().map((pod) => [pod.metadata.name ?? '', pod])).values()];
}

function nodeNames(
  slices: readonly KubeObject[],
  pods: readonly KubeObject[],
): ReadonlySet<string> {
  const ofSlices = (slices as readonly EndpointSlice[]).flatMap(({ endpoints }) =>
    (endpoints ?? []).map(({ nodeName }) => nodeName),
  );
  const ofPods = (pods as readonly Pod[]).map(({ spec }) => spec.nodeName);
  return new Set([...ofSlices, ...ofPods].flatMap((name) => (name ? [name] : [])));
}

/** By name, as long as they are few: nodes change often. */
function nodeScopes(reader: Reader, names: ReadonlySet<string>): readonly HistoryScope[] {
  const all = { kind: 'nodes', ...common(reader) } as const;
  if (names.size > maxNamed) return [all];
  return [...names].map((name) => ({ ...all, name }));
}

async function nodesAt(
  reader: Reader,
  names: ReadonlySet<string>,
  moment: PastMoment,
): Promise<readonly Node[]> {
  const found = await Promise.all(
    nodeScopes(reader, names).map((scope) => pastOf<Node>(reader, scope, moment)),
  );
  return found.flat().filter(({ metadata }) => names.has(metadata.name ?? ''));
}

async function nodesSince(
  reader: Reader,
  names: ReadonlySet<string>,
  { sinceMs, moment }: { readonly sinceMs: number; readonly moment: PastMoment },
) {
  const changes = await Promise.all(
    nodeScopes(reader, names).map(async (scope) => {
      const found = await changesOf(reader, scope, sinceMs);
      const own = found.changes.filter(({ object }) => names.has(object.metadata.name ?? ''));
      return { ...found, changes: own };
    }),
  );
  return { changes, start: await nodesAt(reader, names, moment) };
}

/** Someone writes those of a Service without a selector. */
async function endpointsSince(
  reader: Reader,
  { service }: PastState,
  sinceMs: number,
): Promise<ObjectChanges> {
  const isWritten = service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0;
  if (!isWritten) return nothing;
  const { namespace, name } = reader;
  const scope = { kind: 'endpoints', namespace, name, ...common(reader) } as const;
  return changesOf(reader, scope, sinceMs);
}

const of = (kind: PastKind, all: readonly ObjectChanges[]): readonly PastChange[] =>
  all.flatMap(({ changes }) => changes.map((change) => ({ ...change, kind })));

/** Selectors may find the same pod. */
function inOrder(all: readonly PastChange[], { timeMs, moment }: Begin): readonly PastChange[] {
  const isAfter = (change: PastChange): boolean =>
    'revision' in moment
      ? Number(change.revision) > Number(moment.revision)
      : change.timeMs > timeMs;
  const seen = new Set<string>();
  return all
    .filter((change) => {
      const key = `${change.kind} ${change.object.metadata.name} ${change.revision}`;
      return isAfter(change) && !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => Number(a.revision) - Number(b.revision));
}
