// Moments as people write them: `2026-01-02T15:04:05Z`, `15:04` or `15:04:05` by the clock on the wall, `10m` ago. The one home for them.
import { parseDuration } from '../../flags/parse-values.ts';
import { parseTime } from '../../schema/time.ts';

export type ParsedMoment =
  | { readonly ms: number }
  | { readonly error: string; readonly isFuture?: true };

/** More is no time. */
const maxLength = 64;
const wallClock = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const dayMs = 24 * 60 * 60_000;

/** `nowMs` is on the clock that the moment is meant by, which may be that of a server. */
export function parseMoment(text: string, nowMs: number): ParsedMoment {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
  const ms = text.length > maxLength ? undefined : momentOf(text.trim(), nowMs);
  if (ms === undefined) {
    return {
      error: `"${short}" is no time, want one like 2026-01-02T15:04:05Z, 15:04, 15:04:05, or 10m for ten minutes ago`,
    };
  }
  return ms > nowMs ? { error: `${short} is in the future`, isFuture: true } : { ms };
}

function momentOf(text: string, nowMs: number): number | undefined {
  const agoMs = parseDuration(text.replace(/^-/, ''));
  if (agoMs !== undefined) return nowMs - agoMs;
  return onTheWall(text, nowMs) ?? parseTime(text);
}

/** Today; what has not come yet was yesterday: at ten past midnight, 23:50 was twenty minutes ago. */
function onTheWall(text: string, nowMs: number): number | undefined {
  const found = wallClock.exec(text);
  if (found === null) return undefined;
  const [, hour, minute, second = '0'] = found;
  const at = new Date(nowMs);
  at.setHours(Number(hour), Number(minute), Number(second), 0);
  if (at.getTime() > nowMs) at.setTime(at.getTime() - dayMs);
  return at.getTime();
}
