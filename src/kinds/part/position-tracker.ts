// Which changes are in effect, for one place to which a part writes them: the rules of an IP family, the names of a DNS server. Informers
// see each resource as one ordered stream, so two numbers say it all, and a sync costs the same whatever it changed.
import type { Position, Revisions } from './position.ts';

export type PositionTracker = {
  /** A change has arrived that is to be put into effect. */
  readonly changed: () => void;
  /** What has arrived so far is being put into effect: until `applied()` or `failed()`. */
  readonly begin: () => void;
  readonly applied: () => void;
  readonly failed: () => void;
  /** Whether changes are being put into effect right now. */
  readonly isBusy: () => boolean;
  /** What is in effect: everything that arrived, unless something is waiting. */
  readonly reached: () => Revisions;
  readonly position: (requested: Revisions) => Position;
};

export type TrackerOptions = {
  /** The newest changes that have arrived. */
  readonly seen: () => Revisions;
  readonly now: () => number;
};

/** The last syncs that changed something: several minutes of a busy cluster. */
const remembered = 256;

type Sync = Revisions & { readonly at: number };

export function createPositionTracker({ seen, now }: TrackerOptions): PositionTracker {
  const syncs: Sync[] = [];
  let isCut = false;
  let last: Revisions = { services: 0, slices: 0 };
  /** When the oldest change arrived that no sync has begun to put into effect. */
  let waitingSince: number | undefined;
  let running: { readonly taken: Revisions; readonly since: number | undefined } | undefined;
  const isIdle = (): boolean => running === undefined && waitingSince === undefined;
  const reached = (): Revisions => (syncs.length > 0 && isIdle() ? seen() : last);
  return {
    changed() {
      waitingSince ??= now();
    },
    begin() {
      running = { taken: seen(), since: waitingSince };
      waitingSince = undefined;
    },
    applied() {
      if (running === undefined) return;
      const { taken } = running;
      running = undefined;
      const isSame = taken.services === last.services && taken.slices === last.slices;
      last = taken;
      if (isSame && syncs.length > 0) return;
      syncs.push({ ...taken, at: now() });
      if (syncs.length <= remembered) return;
      syncs.shift();
      isCut = true;
    },
    failed() {
      if (running === undefined) return;
      waitingSince = running.since ?? waitingSince ?? now();
      running = undefined;
    },
    isBusy: () => running !== undefined,
    reached,
    position(requested) {
      const applied = reached();
      const since = running?.since ?? waitingSince;
      const waiting = since === undefined ? {} : { waitingMs: elapsed(since, now()) };
      if (!covers(applied, requested)) return { applied, ...waiting };
      // A change that needs no sync has been in effect for as long as everything else.
      const at = syncs.findIndex((sync) => covers(sync, requested));
      const sync = at < 0 ? syncs.at(-1) : syncs[at];
      const ageMs = elapsed(sync?.at ?? now(), now());
      return { applied, ageMs, ...(at === 0 && isCut ? { isOlder: true } : {}), ...waiting };
    },
  };
}

const elapsed = (from: number, to: number): number => Math.max(0, Math.round(to - from));

const covers = (applied: Revisions, requested: Revisions): boolean =>
  applied.services >= requested.services && applied.slices >= requested.slices;

/** Of a part that writes to several places: what is in effect in all of them. */
export function minPosition(positions: readonly Position[]): Position {
  const ages = positions.flatMap(({ ageMs }) => ageMs ?? []);
  const waits = positions.flatMap(({ waitingMs }) => waitingMs ?? []);
  const isInEffect = ages.length === positions.length;
  return {
    applied: {
      services: Math.min(...positions.map(({ applied }) => applied.services)),
      slices: Math.min(...positions.map(({ applied }) => applied.slices)),
    },
    ...(isInEffect ? { ageMs: Math.min(...ages) } : {}),
    ...(isInEffect && positions.some(({ isOlder }) => isOlder) ? { isOlder: true } : {}),
    ...(waits.length === 0 ? {} : { waitingMs: Math.max(...waits) }),
  };
}
