// The pod of one ordinal: its name, labels and volumes. Upstream: stateful_set_utils.go in pkg/controller/statefulset.
import { availableIn, isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { podFromTemplate } from '../../kinds/pod-template/pod-from-template.ts';
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import { claimName, memberName, memberOf } from '../../kinds/stateful-set/members.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { podIndexLabel, revisionLabel, statefulPodLabel } from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';

export type Version = {
  /** The name of the revision. */
  readonly revision: string;
  readonly template: PodTemplateSpec;
};

export function memberPod(set: StatefulSet, ordinal: number, version: Version): Pod {
  const pod = podFromTemplate(set, version.template);
  const name = memberName(set, ordinal);
  const { serviceName } = set.spec;
  const labels = { ...pod.metadata.labels, [revisionLabel]: version.revision };
  return conforming(set, {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: { ...pod.spec, hostname: name, ...(serviceName ? { subdomain: serviceName } : {}) },
  });
}

/** The pod with the labels of its identity and the volumes of its claims; the same object when it has them. */
export function conforming(set: StatefulSet, pod: Pod): Pod {
  const { name = '', labels } = pod.metadata;
  const ordinal = ordinalOf(pod);
  const identity = { [statefulPodLabel]: name, [podIndexLabel]: String(ordinal) };
  const volumes = volumesOf(set, pod, ordinal);
  const hasIdentity = labels?.[statefulPodLabel] === name;
  if (hasIdentity && deepEqual(volumes, pod.spec.volumes ?? [])) return pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...labels, ...identity } },
    spec: { ...pod.spec, ...(volumes.length === 0 ? {} : { volumes }) },
  };
}

type Volumes = NonNullable<Pod['spec']['volumes']>;

/** Claims take the place of volumes of the same name. The order of volumes that are there is left alone. */
function volumesOf({ spec, metadata }: StatefulSet, pod: Pod, ordinal: number): Volumes {
  const wanted: Volumes = (spec.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(template, { metadata }, ordinal) },
  }));
  const present = pod.spec.volumes ?? [];
  const mounted = wanted.every(({ name, persistentVolumeClaim }) =>
    present.some(
      (volume) =>
        volume.name === name &&
        volume.persistentVolumeClaim?.claimName === persistentVolumeClaim?.claimName,
    ),
  );
  if (mounted) return present;
  return [...wanted, ...present.filter(({ name }) => !wanted.some((one) => one.name === name))];
}

/** Only members get here; others have no place in the order. */
export const ordinalOf = (pod: Pod): number => memberOf(pod)?.ordinal ?? -1;

export const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[revisionLabel] ?? '';

export const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

export const isRunningAndReady = (pod: Pod): boolean =>
  pod.status.phase === 'Running' && isPodReady(pod);

export const isRunningAndAvailable = (pod: Pod, { spec }: StatefulSet, now: number): boolean =>
  isRunningAndReady(pod) && availableIn(pod, spec.minReadySeconds ?? 0, now) === 0;
