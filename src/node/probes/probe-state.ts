// The result of a probe: it changes after enough consecutive outcomes. Upstream: prober/worker.go.
import type { Probe } from '../../kinds/pod/probe.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';
export type ProbeResult = 'success' | 'failure' | 'unknown';

export type ProbeState = {
  readonly result: ProbeResult;
  readonly lastOutcome?: 'success' | 'failure';
  /** Number of consecutive outcomes of that kind. */
  readonly consecutive: number;
};

const initial: Readonly<Record<ProbeKind, ProbeResult>> = {
  startup: 'unknown',
  // A container is alive until a probe fails, and not ready until one succeeds.
  liveness: 'success',
  readiness: 'failure',
};

export function initialProbeState(kind: ProbeKind): ProbeState {
  return { result: initial[kind], consecutive: 0 };
}

export function nextProbeState(
  { result, lastOutcome, consecutive }: ProbeState,
  outcome: 'success' | 'failure',
  {
    successThreshold = 1,
    failureThreshold = 3,
  }: Pick<Probe, 'successThreshold' | 'failureThreshold'>,
): ProbeState {
  const count = outcome === lastOutcome ? consecutive + 1 : 1;
  const needed = outcome === 'success' ? successThreshold : failureThreshold;
  return { result: count >= needed ? outcome : result, lastOutcome: outcome, consecutive: count };
}
