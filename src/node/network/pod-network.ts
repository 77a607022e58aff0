// What gives pods their network.
import type { Pod } from '../../kinds/pod/types.ts';

export type PodAttachment = {
  readonly ips: readonly string[];
  /** Absent: the pod is on the network of the node. */
  readonly namespacePath?: string;
};

export type PodNetwork = {
  /** Told once, before any other pod comes: the pods that are here after a restart of the agent keep their addresses. */
  readonly adopt: (pods: readonly Pod[]) => void;
  /** Repeating it for a pod that is there gives the same answer. Throws when the pod cannot have its network now. */
  readonly addPod: (pod: Pod) => Promise<PodAttachment>;
  readonly removePod: (uid: string) => Promise<void>;
  /** What keeps pods of their own network from starting; undefined when nothing does. */
  readonly problem: () => string | undefined;
  /** Told whenever the problem changes. */
  readonly onProblemChange: (listener: () => void) => void;
  /** Whether it has something to say about the node's condition NetworkUnavailable. */
  readonly reportsCondition: boolean;
  /** Takes back all that it made; no pod may be left. */
  readonly stop: () => Promise<void>;
};

/** Every pod has the addresses of its node, as with `hostNetwork: true`. */
export function hostNetwork(nodeIPs: readonly string[]): PodNetwork {
  return {
    adopt: () => {},
    addPod: () => Promise.resolve({ ips: nodeIPs }),
    removePod: () => Promise.resolve(),
    problem: () => undefined,
    onProblemChange: () => {},
    reportsCondition: false,
    stop: () => Promise.resolve(),
  };
}
