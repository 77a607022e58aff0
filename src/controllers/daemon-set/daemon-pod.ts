// The pod of a daemon set for one node, and which node a pod is for. Upstream: pkg/controller/daemon/util.
import { templateGeneration } from '../../kinds/daemon-set/template-generation.ts';
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import type { Affinity, Toleration } from '../../kinds/pod/affinity.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { podFromTemplate } from '../../kinds/pod-template/pod-from-template.ts';
import { podTemplateGenerationLabel, revisionLabel } from '../../meta/well-known-labels.ts';
import {
  diskPressureTaint,
  memoryPressureTaint,
  networkUnavailableTaint,
  notReadyTaint,
  pidPressureTaint,
  unreachableTaint,
  unschedulableTaint,
} from '../../meta/well-known-taints.ts';
import { deepEqual } from '../../schema/equality.ts';

const nodeNameField = 'metadata.name';

export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const pod = podFromTemplate(set, set.spec.template);
  const generation = templateGeneration(set);
  const labels = {
    ...pod.metadata.labels,
    ...(generation === undefined ? {} : { [podTemplateGenerationLabel]: String(generation) }),
    ...(hash === '' ? {} : { [revisionLabel]: hash }),
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: {
      ...pod.spec,
      affinity: affinityTo(node, pod.spec.affinity),
      tolerations: daemonTolerations(pod.spec),
    },
  };
}

/** The scheduler binds the pod to the node; other required node affinity has been considered by then. */
function affinityTo(node: string, { nodeAffinity, ...others }: Affinity = {}): Affinity {
  const term = { matchFields: [{ key: nodeNameField, operator: 'In', values: [node] }] };
  return {
    ...others,
    nodeAffinity: {
      ...nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  };
}

const exists = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect });
/** Pods of daemons stay when their node is in trouble, and run where others are not put. */
const always: readonly Toleration[] = [
  exists(notReadyTaint, 'NoExecute'),
  exists(unreachableTaint, 'NoExecute'),
  exists(diskPressureTaint, 'NoSchedule'),
  exists(memoryPressureTaint, 'NoSchedule'),
  exists(pidPressureTaint, 'NoSchedule'),
  exists(unschedulableTaint, 'NoSchedule'),
];
const onHostNetwork = exists(networkUnavailableTaint, 'NoSchedule');

export function daemonTolerations({
  tolerations = [],
  hostNetwork,
}: Pick<Pod['spec'], 'tolerations' | 'hostNetwork'>): readonly Toleration[] {
  const wanted = hostNetwork === true ? [...always, onHostNetwork] : always;
  return wanted.reduce(withToleration, tolerations);
}

/** Takes the position of one that differs only in its time. */
function withToleration(
  tolerations: readonly Toleration[],
  toleration: Toleration,
): readonly Toleration[] {
  const isSame = ({ tolerationSeconds: _, ...other }: Toleration): boolean =>
    deepEqual(other, toleration);
  return tolerations.some(isSame)
    ? tolerations.map((other) => (isSame(other) ? toleration : other))
    : [...tolerations, toleration];
}

/** The node that a pod runs on or is to be bound to. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields) {
      if (key === nodeNameField && operator === 'In' && values.length === 1) return values[0];
    }
  }
  return undefined;
}

/** Whether the pod is of the current template. */
export function isUpdated(pod: Pod, set: DaemonSet, hash: string): boolean {
  const labels = pod.metadata.labels ?? {};
  const generation = templateGeneration(set);
  return (
    (hash !== '' && labels[revisionLabel] === hash) ||
    (generation !== undefined && labels[podTemplateGenerationLabel] === String(generation))
  );
}
