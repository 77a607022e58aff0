// `--watch` and `--wait`: follows a propagation until it is complete, the Service is deleted, or the time is over.
import type { ApiCaller } from '../../client/api-call.ts';
import type { World } from '../../flags/command.ts';
import { formatDuration } from '../../flags/parse-values.ts';
import { type Clock, systemClock } from '../../host/clock.ts';
import { isComplete } from '../../propagation/is-complete.ts';
import type { PartState, Propagation } from '../../propagation/propagation.ts';
import type { ServiceName } from '../../propagation/read-propagation.ts';
import { readServiceObjects } from '../../propagation/read-service-objects.ts';
import { lagText } from '../../propagation/render-propagation.ts';
import { partName, stateOf } from '../../propagation/state-of.ts';
import { type PropagationUpdate, watchPropagation } from '../../propagation/watch-propagation.ts';
import { missingRightsText } from '../explain/explain-session.ts';
import type { PropagationFlags } from './propagation-flags.ts';
import type { PropagationView } from './propagation-view.ts';

export type Following = {
  readonly caller: ApiCaller;
  readonly service: ServiceName;
  readonly flags: PropagationFlags;
  readonly world: World;
  readonly view: PropagationView;
};

export type Outcome =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly sentence: string };

const defaultTimeoutMs = 60_000;

/** Undefined: well. */
export async function followPropagation(
  following: Following,
  clock: Clock = systemClock,
): Promise<Outcome | undefined> {
  const { caller, service, flags, world } = following;
  const timedOut = new AbortController();
  const timeoutMs = flags.timeout ?? defaultTimeoutMs;
  const cancel =
    flags.wait === true ? clock.after(timeoutMs, () => timedOut.abort()) : () => undefined;
  const signal = AbortSignal.any([world.interrupted, timedOut.signal]);
  const wait = createWait(following, signal);
  const seen: Seen = { latest: undefined };
  try {
    const updates = watchPropagation({ caller, service, clock, random: Math.random, signal });
    for await (const update of updates) {
      const end = await take(update, { seen, wait, following });
      if (end !== undefined) return end.outcome;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    cancel();
  }
  if (flags.wait !== true) return undefined;
  if (world.interrupted.aborted) return { kind: 'interrupted' };
  if (seen.latest !== undefined) showLast(seen.latest, following);
  return failed(timeoutText(seen.latest, { following, timeoutMs, isStale: wait.isStale() }));
}

type Seen = { latest: Propagation | undefined };
type Taking = {
  readonly seen: Seen;
  readonly wait: ReturnType<typeof createWait>;
  readonly following: Following;
};
type End = { readonly outcome: Outcome | undefined };

/** Undefined: it goes on. */
async function take(
  update: PropagationUpdate,
  { seen, wait, following }: Taking,
): Promise<End | undefined> {
  const { service, flags, world } = following;
  show(update, seen.latest === undefined, following);
  seen.latest = update.state;
  if (world.isOutputClosed?.() === true) return { outcome: undefined };
  const isDeleted = update.changes.some(({ type }) => type === 'ServiceDeleted');
  if (isDeleted)
    return { outcome: flags.wait === true ? failed(`${nameOf(service)} was deleted`) : undefined };
  if (flags.wait !== true || !(await wait.isOver(update))) return undefined;
  showLast(update.state, following);
  return { outcome: undefined };
}

const failed = (sentence: string): Outcome => ({ kind: 'failed', sentence });

const nameOf = ({ namespace, name }: ServiceName): string => `Service ${namespace}/${name}`;

function show(
  { state, changes }: PropagationUpdate,
  isFirst: boolean,
  { flags, world, view }: Following,
): void {
  if (flags.watch !== true) return;
  if (isFirst) view.show(state);
  else if (changes.length > 0 || world.terminal !== undefined) view.follow(state, changes);
}

/** Without --watch, nothing has been shown yet. */
function showLast(latest: Propagation, { flags, view }: Following): void {
  if (flags.watch !== true) view.show(latest);
}

function createWait({ caller, service, flags, world }: Following, signal: AbortSignal) {
  let isStale = false;
  let isWarned = false;
  return {
    isStale: () => isStale,
    async isOver({ state }: PropagationUpdate): Promise<boolean> {
      if (stateOf(relevant(state, flags)) !== 'current') return false;
      const snapshot = await readServiceObjects(caller, service, signal);
      const missing = isWarned ? [] : missingRightsText(snapshot);
      for (const text of missing) world.writeError(`${text}, so not all is checked\n`);
      isWarned = true;
      if (snapshot.unread.length > 0) return true;
      const completeness = isComplete(state, snapshot);
      isStale = completeness === 'stale-slices';
      return completeness === 'complete';
    },
  };
}

const relevant = (state: Propagation, { onlyConnected }: PropagationFlags) => ({
  parts: state.parts,
  nodesWithoutProxy: onlyConnected === true ? [] : state.nodesWithoutProxy,
});

type Timeout = {
  readonly following: Following;
  readonly timeoutMs: number;
  readonly isStale: boolean;
};

/** Of one sentence. */
const maxNames = 5;

function timeoutText(
  latest: Propagation | undefined,
  { following: { service, flags }, timeoutMs, isStale }: Timeout,
): string {
  const begin = `The changes of ${nameOf(service)} are not in effect everywhere after ${formatDuration(timeoutMs)}`;
  if (latest === undefined) return `${begin}: the API server has not answered`;
  const { parts, nodesWithoutProxy } = relevant(latest, flags);
  const of = (state: PartState['state']): readonly PartState[] =>
    parts.filter((part) => part.state === state);
  const reasons = [
    ...(parts.length === 0 ? ['no proxy or DNS server of Fairlead is connected'] : []),
    ...listed(
      'behind',
      of('behind').map((part) => withDetail(part, lagText(part))),
    ),
    ...listed(
      'no answer',
      of('no-answer').map((part) => withDetail(part, part.reason ?? '')),
    ),
    ...listed('no proxy of Fairlead on', nodesWithoutProxy),
    ...(isStale ? ['its endpoint slices do not say yet what its pods are'] : []),
  ];
  return reasons.length === 0 ? begin : `${begin}: ${reasons.join('; ')}`;
}

const withDetail = (part: PartState, detail: string): string =>
  detail === '' ? partName(part) : `${partName(part)} (${detail})`;

function listed(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return [`${what}: ${names.slice(0, maxNames).join(', ')}${more}`];
}
