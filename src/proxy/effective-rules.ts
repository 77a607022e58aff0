// What the rules of all families do at this moment, for questions of the API server (src/apiserver/parts). Without a question it costs a
// few assignments for each sync.
import type { Position, Revisions } from '../kinds/part/position.ts';
import {
  createPositionTracker,
  minPosition,
  type PositionTracker,
  type TrackerOptions,
} from '../kinds/part/position-tracker.ts';
import type { Confirmation, Unrouted } from '../kinds/part/unrouted.ts';
import type { Family, ProxyState } from './model/state.ts';

/** Notified by the syncs of one family. */
export type FamilyRules = Pick<PositionTracker, 'changed' | 'begin' | 'failed'> & {
  /** The state is in the kernel. It is not copied: it changes when the next sync begins. */
  readonly applied: (state: ProxyState) => void;
};

export type EffectiveRules = {
  readonly of: (family: Family) => FamilyRules;
  readonly position: (requested: Revisions) => Position;
  /** Resolves when the slices are in effect in all families and no rule has led to the addresses for the requested time. */
  readonly unrouted: (spec: Unrouted, signal: AbortSignal) => Promise<Confirmation>;
  /** Of each family, as last written. */
  readonly states: () => readonly ProxyState[];
  /** To be called now and then while something is waited for. */
  readonly recheck: () => void;
  readonly isWaitedFor: () => boolean;
};

type Waiting = Unrouted & {
  readonly resolve: (confirmation: Confirmation) => void;
  /** Since when the slices are in effect and no rule leads to the addresses; undefined: not so. */
  clearSince: number | undefined;
};

export function createEffectiveRules(
  families: readonly Family[],
  options: TrackerOptions,
): EffectiveRules {
  const trackers = new Map(families.map((one) => [one, createPositionTracker(options)]));
  const all = [...trackers.values()];
  const states = new Map<Family, ProxyState>();
  const waiting = new Set<Waiting>();
  /** While a sync runs, its state is ahead of the kernel. */
  const isKnown = (): boolean => states.size === all.length && !all.some(({ isBusy }) => isBusy());
  const scan = (questions: Iterable<Waiting>): void => {
    const slices = Math.min(...all.map(({ reached }) => reached().slices));
    const due = [...questions].filter((one) => one.slices <= slices);
    const routed = routedAmong(due, states.values());
    for (const one of due) {
      const isRouted = one.addresses.some((address) => routed.has(address));
      one.clearSince = isRouted ? undefined : (one.clearSince ?? options.now());
    }
  };
  const resolveDue = (): void => {
    for (const one of [...waiting]) {
      const { clearSince, forMs, resolve } = one;
      if (clearSince === undefined || options.now() - clearSince < forMs) continue;
      waiting.delete(one);
      resolve({});
    }
  };
  const recheck = (questions?: Iterable<Waiting>): void => {
    if (waiting.size === 0 || !isKnown()) return;
    // Between two syncs, only those can change whose slices come into effect without a sync.
    scan(questions ?? [...waiting].filter(({ clearSince }) => clearSince === undefined));
    resolveDue();
  };
  return {
    of(family) {
      const tracker = trackers.get(family) ?? createPositionTracker(options);
      return {
        ...tracker,
        applied(state) {
          tracker.applied();
          states.set(family, state);
          recheck(waiting);
        },
      };
    },
    position: (requested) => minPosition(all.map(({ position }) => position(requested))),
    unrouted: (spec, signal) =>
      new Promise((resolve) => {
        const one: Waiting = { ...spec, resolve, clearSince: undefined };
        waiting.add(one);
        signal.addEventListener('abort', () => waiting.delete(one), { once: true });
        recheck([one]);
      }),
    states: () => [...states.values()],
    recheck: () => recheck(),
    isWaitedFor: () => waiting.size > 0,
  };
}

/** Those of the addresses that a rule leads to, found in one pass over the endpoints. */
function routedAmong(
  questions: readonly Unrouted[],
  states: Iterable<ProxyState>,
): ReadonlySet<string> {
  const wanted = new Set(questions.flatMap(({ addresses }) => addresses));
  const found = new Set<string>();
  const note = ({ ip }: { readonly ip: string }): void => {
    if (wanted.has(ip)) found.add(ip);
  };
  if (wanted.size === 0) return found;
  for (const { ports } of states) {
    for (const { clusterEndpoints, localEndpoints } of ports.values()) {
      clusterEndpoints.forEach(note);
      localEndpoints.forEach(note);
    }
  }
  return found;
}
