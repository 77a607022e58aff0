// The time of the change that causes a write of endpoints, for the last-change-trigger-time annotation. Readers measure
// programming latency with it. Mirrors the tracker in k8s.io/endpointslice/util.
import { triggerTimeAnnotation } from '../../meta/well-known-annotations.ts';
import { parseTime } from '../../schema/time.ts';
import { podCondition } from '../pod/readiness.ts';
import type { Pod } from '../pod/types.ts';
import type { Service } from '../service/types.ts';

/** Times of the previous sync. */
export type TriggerState = {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
};

export type TriggerTime = {
  readonly state: TriggerState;
  /** Absent when no new change has a time: only the creation of the Service and changes of pod readiness have one. */
  readonly text?: string;
};

type Moment = { readonly ms: number; readonly text: string };

export function triggerTime(
  before: TriggerState | undefined,
  service: Service,
  pods: readonly Pod[],
): TriggerTime {
  const created = moment(service.metadata.creationTimestamp);
  const times = new Map<string, number>();
  let earliest: Moment | undefined;
  for (const pod of pods) {
    const changed = moment(podCondition(pod, 'Ready')?.lastTransitionTime);
    if (changed === undefined) continue;
    const name = pod.metadata.name ?? '';
    times.set(name, changed.ms);
    if (changed.ms > (before?.pods.get(name) ?? Number.NEGATIVE_INFINITY)) {
      earliest = earlier(earliest, changed);
    }
  }
  if (created !== undefined && created.ms > (before?.service ?? Number.NEGATIVE_INFINITY)) {
    earliest = earlier(earliest, created);
  }
  const state = { service: created?.ms ?? 0, pods: times };
  // In the first sync the creation of the Service counts, however long its pods have been ready.
  const cause = before === undefined ? created : earliest;
  return cause === undefined ? { state } : { state, text: cause.text };
}

/** Sets or removes the annotation. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  text: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {};
  const all = text === undefined ? others : { ...others, [triggerTimeAnnotation]: text };
  return Object.keys(all).length === 0 ? undefined : all;
}

function moment(text: string | null | undefined): Moment | undefined {
  if (text === undefined || text === null) return undefined;
  const ms = parseTime(text);
  return ms === undefined ? undefined : { ms, text };
}

function earlier(a: Moment | undefined, b: Moment): Moment {
  return a === undefined || b.ms < a.ms ? b : a;
}
