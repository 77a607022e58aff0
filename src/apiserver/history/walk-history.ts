// Reads the versions of objects backwards: from the live ones, one recorded change after the other.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import type { Resource } from '../cache/resources.ts';
import { type ChangeRecord, hashOfKey, versionBefore } from './change-records.ts';
import { hasKey, type Moment } from './frames.ts';
import type { History, HistoryState } from './start-history.ts';

export type Scope = {
  readonly name: string;
  readonly resource: Resource;
  /** The key of one object, or what the keys of many begin with. */
  readonly prefix: string;
  readonly isOne: boolean;
};

/** One change with the versions around it, as JSON. */
export type Step = {
  readonly record: ChangeRecord;
  readonly after: Buffer | undefined;
  readonly before: Buffer | undefined;
};

export type Walk = {
  /** The versions at the change that was visited last; of keys that changed since, only. */
  readonly changed: ReadonlyMap<string, Buffer | undefined>;
  /** The objects that are live at the start of the walk. */
  readonly live: ReadonlyMap<string, Buffer>;
  /** Since when the history that was read is complete. Later than the state's where something was dropped or damaged. */
  readonly since: Moment;
};

/**
 * Visits changes from the newest on until there is none or `visit` returns false, before the versions become those before the change.
 * What was recorded before `sinceMs` need not be read.
 */
export async function walkHistory(
  history: History,
  scope: Scope,
  visit: (step: Step) => boolean,
  sinceMs = Number.NEGATIVE_INFINITY,
): Promise<Walk> {
  const state = history.state();
  const live = new Map(liveObjects(scope).map(({ key, json }) => [key, json]));
  const changed = new Map<string, Buffer | undefined>();
  const walk = (since: Moment): Walk => ({ live, changed, since });
  for await (const batch of recordsBackwards(history, state, { ...scope, sinceMs })) {
    if ('missing' in batch) return walk(batch.missing);
    for (const record of batch.records) {
      const step = stepOf(record, { live, changed });
      if (step === undefined) return walk(record);
      if (!visit(step)) return walk(state.since);
      changed.set(record.key, step.before);
      const due = yieldWhenDue();
      if (due !== undefined) await due;
    }
  }
  return walk(state.since);
}

/** Undefined where the version that was recorded is not the one that is there, as after another program wrote objects differently. */
function stepOf(
  record: ChangeRecord,
  { live, changed }: Pick<Walk, 'live' | 'changed'>,
): Step | undefined {
  const { key, type } = record;
  const after = changed.has(key) ? changed.get(key) : live.get(key);
  const before = versionBefore(record, after);
  if (before === 'broken') return undefined;
  return { record, after: type === 'DELETED' ? undefined : after, before };
}

function liveObjects({ resource, prefix, isOne }: Scope) {
  const { cache } = resource;
  if (!isOne) return cache.listReadable(prefix);
  const found = cache.getReadable(prefix);
  return found === undefined ? [] : [found];
}

type Batch = { readonly records: readonly ChangeRecord[] } | { readonly missing: Moment };

/** Newest first. */
async function* recordsBackwards(
  history: History,
  { frames, recent }: HistoryState,
  { name, prefix, isOne, sinceMs }: Scope & { readonly sinceMs: number },
): AsyncGenerator<Batch> {
  const isIn = ({ key }: ChangeRecord): boolean =>
    isOne ? key === prefix : key.startsWith(prefix);
  const backwards = (records: readonly ChangeRecord[]): Batch => ({
    records: records.filter(isIn).reverse(),
  });
  yield backwards(recent.get(name) ?? []);
  const hash = hashOfKey(prefix);
  for (const frame of [...frames].reverse()) {
    if (frame.to.timeMs < sinceMs) return;
    const part = frame.parts.find(({ resource }) => resource === name);
    if (part === undefined || (isOne && !hasKey(part, hash))) continue;
    const records = await history.readFrame(frame, name);
    if (records === undefined) return yield { missing: frame.to };
    yield backwards(records);
  }
}

/** The newest revision at a time; undefined where the history begins later. */
export async function revisionAt(history: History, timeMs: number): Promise<number | undefined> {
  const { frames, recent, since } = history.state();
  const isBefore = (record: ChangeRecord): boolean => record.timeMs <= timeMs;
  const newestOf = (records: readonly ChangeRecord[]): number =>
    records.reduce((newest, one) => (isBefore(one) ? Math.max(newest, one.revision) : newest), 0);
  const inMemory = Math.max(0, ...[...recent.values()].map(newestOf));
  if (inMemory > 0) return inMemory;
  for (const frame of [...frames].reverse()) {
    if (frame.from.timeMs > timeMs) continue;
    if (frame.to.timeMs <= timeMs) return frame.to.revision;
    const found = [frame.from.revision];
    for (const { resource } of frame.parts)
      found.push(newestOf((await history.readFrame(frame, resource)) ?? []));
    return Math.max(...found);
  }
  return frames.length === 0 && since.timeMs <= timeMs ? since.revision : undefined;
}
