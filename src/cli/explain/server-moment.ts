// A flag that names a moment, on the clock of the server: what `10m` ago is there must not depend on the clock of this machine.
import type { Session } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { isForbidden } from '../../meta/api-error.ts';
import { type HistoryScope, readHistoryClock } from '../../snapshot/read-history.ts';
import { parseMoment } from './parse-moment.ts';

/** Throws where it is no time, before a connection is made. */
export function checkMoment(
  flag: string,
  text: string | undefined,
  { now }: Pick<World, 'now'>,
): void {
  if (text === undefined) return;
  const parsed = parseMoment(text, now());
  // What is the future here may be the past there.
  if ('error' in parsed && !parsed.isFuture) throw new UsageError(`${flag}: ${parsed.error}`);
}

export function momentOn(flag: string, text: string, nowMs: number): number {
  const parsed = parseMoment(text, nowMs);
  if ('error' in parsed) throw new UsageError(`${flag}: ${parsed.error}`);
  return parsed.ms;
}

export type MomentParts = {
  readonly session: Session;
  readonly world: World;
  /** What the user may read; absent: the Services of the namespace. */
  readonly scope?: HistoryScope;
};

/** Undefined without a text. Throws HistoryUnavailable where the server keeps no history. */
export async function serverMoment(
  flag: string,
  text: string | undefined,
  parts: MomentParts,
): Promise<{ readonly timeMs: number } | undefined> {
  if (text === undefined) return undefined;
  return { timeMs: momentOn(flag, text, await serverTime(parts)) };
}

/** With too few rights to read it, the time of this machine. */
async function serverTime({ session, world, scope }: MomentParts): Promise<number> {
  const wanted = scope ?? { kind: 'services', namespace: session.namespace };
  try {
    return (await readHistoryClock(session.caller, wanted)).nowMs;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return world.now();
  }
}
