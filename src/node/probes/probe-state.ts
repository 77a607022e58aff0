// What the outcomes of a probe add up to: so many in a row change the result. Upstream: prober/worker.go.
import type { Probe } from '../../kinds/pod/probe.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';
export type ProbeResult = 'success' | 'failure' | 'unknown';

export type ProbeState = {
  readonly result: ProbeResult;
  readonly lastOutcome?: 'success' | 'failure';
  /** How often that outcome came in a row. */
  readonly inARow: number;
};

const first: Readonly<Record<ProbeKind, ProbeResult>> = {
  startup: 'unknown',
  // A container lives until shown otherwise, and is not ready until shown otherwise.
  liveness: 'success',
  readiness: 'failure',
};

export function initialProbeState(kind: ProbeKind): ProbeState {
  return { result: first[kind], inARow: 0 };
}

export function nextProbeState(
  { result, lastOutcome, inARow }: ProbeState,
  outcome: 'success' | 'failure',
  {
    successThreshold = 1,
    failureThreshold = 3,
  }: Pick<Probe, 'successThreshold' | 'failureThreshold'>,
): ProbeState {
  const count = outcome === lastOutcome ? inARow + 1 : 1;
  const needed = outcome === 'success' ? successThreshold : failureThreshold;
  return { result: count >= needed ? outcome : result, lastOutcome: outcome, inARow: count };
}
