// When the change happened that endpoints are now written for, as the annotation says it. Readers measure with it
// how long a change takes to reach them. Mirrors the tracker in k8s.io/endpointslice/util.
import { triggerTimeAnnotation } from '../../meta/well-known-annotations.ts';
import { parseTime } from '../../schema/time.ts';
import { podCondition } from '../pod/readiness.ts';
import type { Pod } from '../pod/types.ts';
import type { Service } from '../service/types.ts';

/** What was known when the service was last looked at. */
export type SeenTimes = {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
};

export type TriggerTime = {
  readonly seen: SeenTimes;
  /** Absent when nothing new has a time: only a new service and a change of readiness have one. */
  readonly text?: string;
};

type Moment = { readonly ms: number; readonly text: string };

export function triggerTime(
  before: SeenTimes | undefined,
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
  const seen = { service: created?.ms ?? 0, pods: times };
  // For a service seen for the first time its creation is the change, however long its pods have been ready.
  const cause = before === undefined ? created : earliest;
  return cause === undefined ? { seen } : { seen, text: cause.text };
}

/** The annotations with the time in them, or without one. */
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
