// On which nodes a daemon set runs. Upstream: NodeShouldRunDaemonPod() in pkg/controller/daemon.
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { matchesNodeAffinity } from '../../kinds/pod/node-selection.ts';
import { isTolerated } from '../../kinds/pod/tolerations.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { daemonTolerations } from './daemon-pod.ts';

export type NodeFit = {
  /** A pod is made where there is none. */
  readonly shouldRun: boolean;
  /** A pod that is there stays. */
  readonly mayStay: boolean;
};

export function fitOfNode({ spec }: DaemonSet, node: Node): NodeFit {
  const { template } = spec;
  const { nodeName } = template.spec;
  const pod = {
    spec: { ...template.spec, tolerations: daemonTolerations(template.spec) },
  } as Pick<Pod, 'spec'> as Pod;
  const isSelected =
    (!nodeName || nodeName === node.metadata.name) && matchesNodeAffinity(pod, node);
  if (!isSelected) return { shouldRun: false, mayStay: false };
  const untolerated = (node.spec.taints ?? [])
    .filter((taint) => !isTolerated(pod, taint))
    .map(({ effect }) => effect);
  return {
    shouldRun: !untolerated.includes('NoSchedule') && !untolerated.includes('NoExecute'),
    mayStay: !untolerated.includes('NoExecute'),
  };
}
