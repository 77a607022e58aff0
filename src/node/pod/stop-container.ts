// Ends one container: its hook first, then the signal, then the one that nobody survives.
import { type Clock, sleep } from '../../host/clock.ts';
import type { Container } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { NodeParts } from '../node-parts.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { type Containers, type Live, messageOf, note, tell } from './live-containers.ts';
import { runHook } from './run-hook.ts';

export type StopOptions = {
  readonly graceMs: number;
  /** What the event says. */
  readonly message: string;
  /** Ends the grace early. */
  readonly hurry?: AbortSignal;
};

/** What the container gets for SIGTERM when its preStop hook has used up the grace. */
export const minGraceMs = 2000;

export async function stopContainer(
  all: Containers,
  container: Container,
  pod: Pod,
  wish: StopOptions,
): Promise<void> {
  const { parts, live } = all;
  const found = live.get(container.name);
  if (found === undefined) return;
  const { running, restarting } = found;
  if (all.records[container.name]?.isStopping) return void (await running.ended);
  note(all, container, { isStopping: true });
  // Readiness is asked for until the end, so that endpoints know whether they can still serve.
  restarting.abort();
  tell(all, pod, container, ['Killing', wish.message]);
  const deadline = parts.clock.now() + wish.graceMs;
  if (wish.graceMs > 0) await preStop(all, container, pod, { found, wish });
  running.signal((container.lifecycle?.stopSignal ?? 'SIGTERM') as NodeJS.Signals);
  const rest = Math.max(deadline - parts.clock.now(), wish.graceMs > 0 ? minGraceMs : 0);
  const hasEnded = await endsWithin(running, rest, parts.clock, wish.hurry);
  if (!hasEnded) running.signal('SIGKILL');
  await running.ended;
}

/** Waits until no proxy leads to the pod, which counts against its grace as a preStop hook does. */
export async function waitForRelease(
  pod: Pod,
  { clock, released }: NodeParts,
  { maxMs, hurry }: { readonly maxMs: number; readonly hurry: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const limit = AbortSignal.any([over.signal, hurry]);
  await Promise.race([released(pod), sleep(clock, maxMs, limit)]);
  over.abort();
}

async function preStop(
  all: Containers,
  container: Container,
  pod: Pod,
  { found, wish }: { readonly found: Live; readonly wish: StopOptions },
): Promise<void> {
  const hook = container.lifecycle?.preStop;
  if (hook === undefined) return;
  const limit = new AbortController();
  const cancel = all.parts.clock.after(wish.graceMs, () => limit.abort());
  const signals = [limit.signal, ...(wish.hurry === undefined ? [] : [wish.hurry])];
  const podIP = found.place.attachment.ips[0] ?? '';
  const { running } = found;
  try {
    const hooked = { container, running, podIP };
    await Promise.race([runHook(hook, hooked, all.parts, AbortSignal.any(signals)), running.ended]);
  } catch (error) {
    tell(all, pod, container, [
      'FailedPreStopHook',
      `PreStopHook failed: ${messageOf(error)}`,
      'Warning',
    ]);
  } finally {
    cancel();
  }
}

async function endsWithin(
  running: RunningContainer,
  ms: number,
  clock: Clock,
  hurry?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const limit = hurry === undefined ? over.signal : AbortSignal.any([over.signal, hurry]);
  const ended = running.ended.then(() => true);
  const hasEnded = await Promise.race([ended, sleep(clock, ms, limit).then(() => false)]);
  over.abort();
  return hasEnded;
}

export function stopOrder({ spec }: Pod): readonly (readonly Container[])[] {
  const init = spec.initContainers ?? [];
  const sidecars = init.filter(isRestartableInitContainer).reverse();
  const once = init.filter((container) => !isRestartableInitContainer(container));
  // Sidecars outlive what they serve, and end in the reverse order of their start.
  const added = spec.ephemeralContainers ?? [];
  return [[...(spec.containers ?? []), ...once, ...added], ...sidecars.map((one) => [one])];
}
