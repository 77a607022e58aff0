// Whether and when a terminated container restarts.
import type { Container } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { listOf } from './container-lists.ts';
import type { BackOff, Terminated } from './container-record.ts';

export type RestartLimits = { readonly firstMs: number; readonly maxMs: number };

/** As in the kubelet: 10 s, doubling up to 5 min. */
export const restartLimits: RestartLimits = { firstMs: 10_000, maxMs: 300_000 };

export function shouldRestart(
  pod: Pod,
  container: Container,
  { exitCode }: Pick<Terminated, 'exitCode'>,
): boolean {
  const { spec } = pod;
  const list = listOf(pod, container.name);
  if (list === 'ephemeralContainers') return false;
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    if (
      action === 'Restart' &&
      exitCodes !== undefined &&
      isListed === (exitCodes.operator === 'In')
    )
      return true;
  }
  const isInit = list === 'initContainers';
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  if (isInit && !isRestartableInitContainer(container)) return exitCode !== 0 && policy !== 'Never';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** When it may restart; immediately after the first termination, or after it ran long enough to reset the back-off. */
export function restartAt(
  backOff: BackOff | undefined,
  finishedAt: number,
  limits = restartLimits,
): number {
  if (backOff === undefined || isReset(backOff, finishedAt, limits)) return finishedAt;
  return finishedAt + backOff.delayMs;
}

/** The back-off of the next restart, after a start at `now`. */
export function nextBackOff(
  backOff: BackOff | undefined,
  now: number,
  limits = restartLimits,
): BackOff {
  const delayMs =
    backOff === undefined || isReset(backOff, now, limits)
      ? limits.firstMs
      : Math.min(backOff.delayMs * 2, limits.maxMs);
  return { delayMs, updatedAt: now };
}

/** After twice the maximum delay without a restart. */
function isReset({ updatedAt }: BackOff, now: number, { maxMs }: RestartLimits): boolean {
  return now - updatedAt > 2 * maxMs;
}

/** In Go's duration format: `10s`, `1m20s`. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`;
}
