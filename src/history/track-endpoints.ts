// The endpoints of a Service over all its slices, while its history is replayed: a change of a slice becomes changes of endpoints.
import { isReady, isServing, isTerminating } from '../kinds/endpoint-slice/conditions.ts';
import type { Endpoint, EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Described } from './describe-pod.ts';
import type { EndpointFacts } from './history.ts';

export type EndpointChange = Described & { readonly endpoint: EndpointFacts };

export type EndpointCounts = {
  readonly total: number;
  readonly ready: number;
  /** Not ready, but serving while they terminate: proxies use them when none is ready. */
  readonly draining: number;
};

export type EndpointTable = {
  /** Undefined: the slice is new, or is deleted. */
  readonly apply: (
    before: EndpointSlice | undefined,
    after: EndpointSlice | undefined,
  ) => readonly EndpointChange[];
  readonly counts: () => EndpointCounts;
  readonly facts: () => readonly EndpointFacts[];
};

type Known = {
  /** While an endpoint moves to another slice, it may be in both. */
  readonly bySlice: Map<string, EndpointFacts>;
};

/** `needsPorts`: the Service has ports, so that endpoints of a slice without any cannot serve. */
export function createEndpointTable(needsPorts: () => boolean): EndpointTable {
  const endpoints = new Map<string, Known>();
  /** Of each slice as it was last. */
  const current = new Map<string, ReadonlyMap<string, Endpoint>>();
  const counts = { total: 0, ready: 0, draining: 0 };

  function count(facts: EndpointFacts | undefined, step: 1 | -1): void {
    if (facts === undefined) return;
    counts.total += step;
    if (facts.ready) counts.ready += step;
    else if (isDraining(facts)) counts.draining += step;
  }

  function change(key: string, edit: (known: Known) => void): EndpointChange | undefined {
    const known = endpoints.get(key) ?? { bySlice: new Map() };
    const before = bestOf(known);
    edit(known);
    const after = bestOf(known);
    if (after === undefined) endpoints.delete(key);
    else endpoints.set(key, known);
    count(before, -1);
    count(after, 1);
    const described = describeEndpoint(before, after);
    const endpoint = after ?? before;
    return described === undefined || endpoint === undefined
      ? undefined
      : { ...described, endpoint };
  }

  function edits(before: EndpointSlice | undefined, after: EndpointSlice | undefined): Edits {
    const canServe = !needsPorts() || hasPorts(after);
    const name = (after ?? before)?.metadata.name ?? '';
    const was = current.get(name) ?? byKey(before);
    const is = byKey(after);
    if (after === undefined) current.delete(name);
    else current.set(name, is);
    const isSamePorts = hasPorts(before) === hasPorts(after);
    const removed = [...was.keys()].filter((key) => !is.has(key));
    // Endpoints that did not change are the same object, as the reader makes equal ones one.
    const changed = [...is].filter(([key, one]) => !isSamePorts || was.get(key) !== one);
    return {
      removed,
      changed: changed.map(([key, one]) => [key, factsOf(one, canServe)] as const),
    };
  }

  return {
    apply(before, after) {
      const name = (after ?? before)?.metadata.name ?? '';
      const { removed, changed } = edits(before, after);
      return [
        ...removed.map((key) => change(key, ({ bySlice }) => bySlice.delete(name))),
        ...changed.map(([key, facts]) => change(key, ({ bySlice }) => bySlice.set(name, facts))),
      ].filter((one) => one !== undefined);
    },
    counts: () => ({ ...counts }),
    facts: () => [...endpoints.values()].flatMap((known) => bestOf(known) ?? []),
  };
}

type Edits = {
  readonly removed: readonly string[];
  readonly changed: readonly (readonly [key: string, facts: EndpointFacts])[];
};

const hasPorts = (slice: EndpointSlice | undefined): boolean => (slice?.ports ?? []).length > 0;

const isDraining = ({ ready, serving, terminating }: EndpointFacts): boolean =>
  !ready && serving && terminating;

function bestOf({ bySlice }: Known): EndpointFacts | undefined {
  const all = [...bySlice.values()];
  return all.find(({ ready }) => ready) ?? all.find(isDraining) ?? all[0];
}

function byKey(slice: EndpointSlice | undefined): ReadonlyMap<string, Endpoint> {
  return new Map((slice?.endpoints ?? []).map((endpoint) => [keyOf(endpoint), endpoint]));
}

/** An address that another pod has later is another endpoint. Proxies use the first address. */
function keyOf({ addresses, targetRef }: Endpoint): string {
  return `${addresses?.[0] ?? ''} ${targetRef?.uid ?? targetRef?.name ?? ''}`;
}

function factsOf(endpoint: Endpoint, canServe: boolean): EndpointFacts {
  const { addresses, targetRef, nodeName, zone } = endpoint;
  const conditions = endpoint.conditions ?? {};
  return {
    address: addresses?.[0] ?? '',
    ...(targetRef?.kind === 'Pod' && targetRef.name ? { pod: targetRef.name } : {}),
    ...(nodeName ? { node: nodeName } : {}),
    ...(zone ? { zone } : {}),
    ready: isReady(conditions) && canServe,
    serving: isServing(conditions) && canServe,
    terminating: isTerminating(conditions),
  };
}

function endpointText({ address, pod, node }: EndpointFacts): string {
  const of = [
    ...(pod === undefined ? [] : [`pod ${pod}`]),
    ...(node === undefined ? [] : [`node ${node}`]),
  ];
  return of.length === 0 ? address : `${address} (${of.join(', ')})`;
}

export function endpointStateText({ ready, serving, terminating }: EndpointFacts): string {
  if (terminating) return serving ? 'terminating, still serving' : 'terminating';
  return ready ? 'ready' : 'not ready';
}

function describeEndpoint(
  before: EndpointFacts | undefined,
  after: EndpointFacts | undefined,
): Described | undefined {
  if (after === undefined) {
    if (before === undefined) return undefined;
    const text = `endpoint ${endpointText(before)} removed`;
    return { type: 'EndpointRemoved', level: 'info', sentence: text };
  }
  const text = `endpoint ${endpointText(after)}`;
  if (before === undefined) {
    const sentence = `${text} added, ${endpointStateText(after)}`;
    return { type: 'EndpointAdded', level: 'info', sentence };
  }
  if (after.terminating && !before.terminating) {
    const sentence = `${text} is ${endpointStateText(after)}`;
    return { type: 'EndpointTerminating', level: 'info', sentence };
  }
  if (after.ready !== before.ready) {
    return after.ready
      ? { type: 'EndpointReady', level: 'info', sentence: `${text} became ready` }
      : { type: 'EndpointNotReady', level: 'warning', sentence: `${text} became not ready` };
  }
  if (after.serving === before.serving) return undefined;
  return after.serving
    ? { type: 'EndpointServing', level: 'info', sentence: `${text} serves again` }
    : { type: 'EndpointNotServing', level: 'info', sentence: `${text} stopped serving` };
}
