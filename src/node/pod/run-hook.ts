// Runs a postStart or preStop hook.
import { sleep } from '../../host/clock.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { LifecycleHandler } from '../../kinds/pod/probe.ts';
import type { NodeParts } from '../node-parts.ts';
import { getHttp, runInside } from '../probes/probe-container.ts';
import { httpTarget } from '../probes/probe-target.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';

export type HookedContainer = {
  readonly container: Container;
  readonly running: RunningContainer;
  readonly podIP: string;
};

/** Throws if the hook failed. The signal aborts it. */
export async function runHook(
  { exec, httpGet, sleep: sleepAction }: LifecycleHandler,
  { container, running, podIP }: HookedContainer,
  { dial, clock }: NodeParts,
  signal: AbortSignal,
): Promise<void> {
  if (exec !== undefined) {
    const command = exec.command ?? [];
    const { exitCode, output } = await runInside(running, command, signal);
    if (exitCode === 0) return;
    throw new Error(`command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
  }
  if (httpGet !== undefined) {
    const target = httpTarget(httpGet, container, { podIP, userAgent: 'kube-lifecycle/1.36' });
    await getHttp(target, dial, signal);
    return;
  }
  if (sleepAction !== undefined) await sleep(clock, sleepAction.seconds * 1000, signal);
}
