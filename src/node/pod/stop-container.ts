// Stops one container: its preStop hook, then SIGTERM, then SIGKILL.
import { type Clock, sleep } from '../../host/clock.ts';
import type { Container } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { NodeParts } from '../node-parts.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { signalNumber } from '../runtimes/signal-number.ts';
import {
  type ActiveContainer,
  type Containers,
  messageOf,
  recordEvent,
  updateRunning,
} from './active-containers.ts';
import { runHook } from './run-hook.ts';

export type StopOptions = {
  readonly graceMs: number;
  /** Message of the event Killing. */
  readonly message: string;
  /** Ends the grace period early. */
  readonly skipGrace?: AbortSignal;
};

/** What is left of the grace period at least, even when the preStop hook has used it up. */
export const minGraceMs = 2000;

export async function stopContainer(
  all: Containers,
  container: Container,
  pod: Pod,
  options: StopOptions,
): Promise<void> {
  const { parts, active } = all;
  const found = active.get(container.name);
  if (found === undefined) return;
  const { running, restarting } = found;
  if (all.records[container.name]?.isStopping) return void (await running.ended);
  updateRunning(all, container, { isStopping: true });
  // Readiness probes continue until it has terminated: endpoints show whether it is still serving.
  restarting.abort();
  recordEvent(all, pod, container, ['Killing', options.message]);
  const deadline = parts.clock.now() + options.graceMs;
  if (options.graceMs > 0) await preStop(all, container, pod, { found, options });
  const ofSpec = signalNumber(container.lifecycle?.stopSignal);
  running.signal(ofSpec ?? running.stopSignal ?? 'SIGTERM');
  const rest = Math.max(deadline - parts.clock.now(), options.graceMs > 0 ? minGraceMs : 0);
  const hasEnded = await endsWithin(running, rest, parts.clock, options.skipGrace);
  if (!hasEnded) running.signal('SIGKILL');
  await running.ended;
}

/** Waits until no proxy leads to the pod. The wait counts against the grace period, as a preStop hook does. */
export async function waitForRelease(
  pod: Pod,
  { clock, released }: NodeParts,
  { maxMs, skipGrace }: { readonly maxMs: number; readonly skipGrace: AbortSignal },
): Promise<void> {
  const timeout = new AbortController();
  const limit = AbortSignal.any([timeout.signal, skipGrace]);
  await Promise.race([released(pod, limit), sleep(clock, maxMs, limit)]);
  timeout.abort();
}

async function preStop(
  all: Containers,
  container: Container,
  pod: Pod,
  { found, options }: { readonly found: ActiveContainer; readonly options: StopOptions },
): Promise<void> {
  const hook = container.lifecycle?.preStop;
  if (hook === undefined) return;
  const limit = new AbortController();
  const cancel = all.parts.clock.after(options.graceMs, () => limit.abort());
  const signals = [limit.signal, ...(options.skipGrace === undefined ? [] : [options.skipGrace])];
  const podIP = found.sandbox.attachment.ips[0] ?? '';
  const { running } = found;
  try {
    const hooked = { container, running, podIP };
    await Promise.race([runHook(hook, hooked, all.parts, AbortSignal.any(signals)), running.ended]);
  } catch (error) {
    recordEvent(all, pod, container, [
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
  skipGrace?: AbortSignal,
): Promise<boolean> {
  const timeout = new AbortController();
  const limit =
    skipGrace === undefined ? timeout.signal : AbortSignal.any([timeout.signal, skipGrace]);
  const ended = running.ended.then(() => true);
  const hasEnded = await Promise.race([ended, sleep(clock, ms, limit).then(() => false)]);
  timeout.abort();
  return hasEnded;
}

/** Containers of one list stop together, the lists one after the other. */
export function stopOrder({ spec }: Pod): readonly (readonly Container[])[] {
  const init = spec.initContainers ?? [];
  const sidecars = init.filter(isRestartableInitContainer).reverse();
  const once = init.filter((container) => !isRestartableInitContainer(container));
  // Sidecars outlive the containers they serve, and stop in the reverse order of their start.
  const added = spec.ephemeralContainers ?? [];
  return [[...(spec.containers ?? []), ...once, ...added], ...sidecars.map((one) => [one])];
}
