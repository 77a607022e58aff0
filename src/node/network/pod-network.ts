// The contract of pod networks, and the host network.
import type { Pod } from '../../kinds/pod/types.ts';

export type PodAttachment = {
  readonly ips: readonly string[];
  /** Absent: the pod is on the network of the node. */
  readonly namespacePath?: string;
};

export type PodNetwork = {
  /** Called once after a restart of the agent, before addPod(): existing pods keep their addresses. */
  readonly adopt: (pods: readonly Pod[]) => void;
  /** Idempotent. Throws if the pod cannot have its network now. */
  readonly addPod: (pod: Pod) => Promise<PodAttachment>;
  readonly removePod: (uid: string) => Promise<void>;
  /** Why pods cannot have a network; undefined if they can. */
  readonly problem: () => string | undefined;
  /** The listener is called whenever the problem changes. */
  readonly onProblemChange: (listener: () => void) => void;
  /** Whether it reports the node's condition NetworkUnavailable. */
  readonly reportsCondition: boolean;
  /** Removes everything; all pods must have been removed. */
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
