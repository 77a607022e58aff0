// What gives pods their network.
import type { Pod } from '../kinds/pod/types.ts';

export type PodAttachment = {
  readonly ips: readonly string[];
  /** Absent: the pod is on the network of the node. */
  readonly namespacePath?: string;
};

export type PodNetwork = {
  /** Repeating it for a pod that is there gives the same answer. */
  readonly addPod: (pod: Pod) => Promise<PodAttachment>;
  readonly removePod: (uid: string) => Promise<void>;
};

/** Every pod has the addresses of its node, as with `hostNetwork: true`. */
export function hostNetwork(nodeIPs: readonly string[]): PodNetwork {
  return {
    addPod: () => Promise.resolve({ ips: nodeIPs }),
    removePod: () => Promise.resolve(),
  };
}
