// Runs the probes of one container while it is running, and reports changes of their results.
import { sleep } from '../../host/clock.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { Probe } from '../../kinds/pod/probe.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { NodeParts } from '../node-parts.ts';
import { listOf } from '../pod/container-lists.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import {
  type ProbeOutcome,
  probeCommand,
  probeGrpc,
  probeHttp,
  probeTcp,
} from './probe-container.ts';
import {
  initialProbeState,
  nextProbeState,
  type ProbeKind,
  type ProbeResult,
} from './probe-state.ts';
import { httpTarget, portNumber } from './probe-target.ts';

export type ProbedContainer = {
  readonly pod: Pod;
  readonly container: Container;
  readonly running: RunningContainer;
  readonly podIP: string;
};

export type ProbeListener = (kind: ProbeKind, result: ProbeResult) => void;

export type ProbeRun = {
  readonly changed: ProbeListener;
  readonly signal: AbortSignal;
  /** Aborts startup and liveness probes, as the kubelet does for a terminating pod; not later than `signal`. */
  readonly restartSignal: AbortSignal;
};

/** Liveness and readiness probes begin after the startup probe has succeeded, if there is one. */
export async function runProbes(
  probed: ProbedContainer,
  parts: NodeParts,
  { changed, signal, restartSignal }: ProbeRun,
): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = probed.container;
  const start = async (
    kind: ProbeKind,
    probe: Probe | undefined,
    until: (result: ProbeResult) => boolean,
  ): Promise<ProbeResult> =>
    probe === undefined
      ? 'success'
      : repeatProbe(
          { probed, parts, kind, probe, changed, until },
          kind === 'readiness' ? signal : restartSignal,
        );
  const started = await start('startup', startupProbe, (result) => result !== 'unknown');
  // A container whose startup probe failed is restarted.
  if (started !== 'success') return;
  await Promise.all([
    // After a failure the container is restarted, which ends this probe.
    start('liveness', livenessProbe, (result) => result === 'failure'),
    start('readiness', readinessProbe, () => false),
  ]);
}

type RepeatedProbe = {
  readonly probed: ProbedContainer;
  readonly parts: NodeParts;
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly changed: ProbeListener;
  readonly until: (result: ProbeResult) => boolean;
};

/** Resolves with the last result. */
async function repeatProbe(repeated: RepeatedProbe, signal: AbortSignal): Promise<ProbeResult> {
  const { parts, kind, probe, changed, until } = repeated;
  let state = initialProbeState(kind);
  await sleep(parts.clock, (probe.initialDelaySeconds ?? 0) * 1000, signal);
  let hasSucceeded = state.result === 'success';
  let early: ProbeOutcome | undefined;
  while (!signal.aborted) {
    const { outcome, output } = early ?? (await tryProbe(repeated, signal));
    if (signal.aborted) return state.result;
    const result = outcome === 'failure' ? 'failure' : 'success';
    count(repeated, result);
    if (outcome !== 'success') report(repeated, outcome, output);
    const before = state.result;
    state = nextProbeState(state, result, probe);
    if (state.result !== before) changed(kind, state.result);
    if (until(state.result)) return state.result;
    hasSucceeded ||= state.result === 'success';
    early = await waitForNext(repeated, !hasSucceeded, signal);
  }
  return state.result;
}

/** Between the probes of a container that is still starting; they double, up to the shortest period that a probe can have. */
const earlyLimits = { firstMs: 20, maxMs: 1000 };

/**
 * Waits for the next probe. While a container starts, it is tried in between, as long as that is only a connection: a program that listens
 * after 50 ms is not unready for a period of 10 s. Only a success counts, and is returned: failures are as many as with a kubelet.
 */
async function waitForNext(
  repeated: RepeatedProbe,
  isStarting: boolean,
  signal: AbortSignal,
): Promise<ProbeOutcome | undefined> {
  const { parts, probe } = repeated;
  const { clock } = parts;
  const dueAt = clock.now() + (probe.periodSeconds ?? 10) * 1000;
  const isTried = isStarting && probe.exec === undefined && (probe.successThreshold ?? 1) === 1;
  for (let delayMs = earlyLimits.firstMs; isTried && !signal.aborted; ) {
    if (clock.now() + delayMs >= dueAt) break;
    await sleep(clock, delayMs, signal);
    const tried = await tryProbe(repeated, signal, dueAt - clock.now());
    if (tried.outcome !== 'failure') return tried;
    delayMs = Math.min(delayMs * 2, earlyLimits.maxMs);
  }
  await sleep(clock, Math.max(dueAt - clock.now(), 0), signal);
  return undefined;
}

function count({ probed, parts, kind }: RepeatedProbe, result: 'success' | 'failure'): void {
  parts.metrics.probes.add({
    probe_type: title(kind),
    result: result === 'failure' ? 'failed' : 'successful',
    container: probed.container.name,
    pod: probed.pod.metadata.name ?? '',
    namespace: probed.pod.metadata.namespace ?? '',
  });
}

function report(
  { probed: { pod, container }, parts, kind }: RepeatedProbe,
  outcome: 'warning' | 'failure',
  output: string,
): void {
  const isFailure = outcome === 'failure';
  parts.events.record(pod, {
    type: 'Warning',
    reason: isFailure ? 'Unhealthy' : 'ProbeWarning',
    message: `${title(kind)} probe ${isFailure ? 'failed' : 'warning'}: ${output}`,
    fieldPath: `spec.${listOf(pod, container.name)}{${container.name}}`,
  });
}

const title = (kind: ProbeKind): string => `${kind[0]?.toUpperCase()}${kind.slice(1)}`;

/** An error is a failure, with the reason. */
async function tryProbe(
  { probed, parts, probe }: RepeatedProbe,
  signal: AbortSignal,
  maxMs = Number.POSITIVE_INFINITY,
): Promise<ProbeOutcome> {
  const timeoutSeconds = probe.timeoutSeconds ?? 1;
  const timeout = new AbortController();
  const timeoutMs = Math.min(timeoutSeconds * 1000, maxMs);
  const cancel = parts.clock.after(timeoutMs, () => timeout.abort());
  const limit = AbortSignal.any([signal, timeout.signal]);
  try {
    return await runProbe(probed, parts, { probe, limit, timeoutSeconds });
  } catch (error) {
    return { outcome: 'failure', output: error instanceof Error ? error.message : String(error) };
  } finally {
    cancel();
  }
}

type ProbeAttempt = {
  readonly probe: Probe;
  readonly limit: AbortSignal;
  readonly timeoutSeconds: number;
};

async function runProbe(
  { container, running, podIP }: ProbedContainer,
  { dial }: NodeParts,
  { probe, limit, timeoutSeconds }: ProbeAttempt,
): Promise<ProbeOutcome> {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) {
    return probeCommand(running, exec.command ?? [], { signal: limit, timeoutSeconds });
  }
  if (httpGet !== undefined) {
    return probeHttp(httpTarget(httpGet, container, { podIP, userAgent }), dial, limit);
  }
  if (tcpSocket !== undefined) {
    return probeTcp(tcpSocket.host || podIP, portNumber(tcpSocket.port, container), dial, limit);
  }
  if (grpc !== undefined) {
    return probeGrpc({ host: podIP, port: grpc.port, service: grpc.service ?? '' }, dial, limit);
  }
  return { outcome: 'success', output: '' };
}

/** The kubelet's User-Agent. */
const userAgent = 'kube-probe/1.36';
