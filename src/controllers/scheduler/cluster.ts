// Input of scheduling: nodes, the pods on each, and labels of namespaces.
import type { Node } from '../../kinds/node/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Labels } from '../../meta/labels.ts';
import type { VolumeWorld } from './volumes.ts';

export type NodeState = {
  readonly node: Node;
  /** Unfinished pods of the node. */
  readonly pods: readonly Pod[];
};

export type Cluster = {
  readonly nodes: readonly NodeState[];
  readonly namespaceLabels: (namespace: string) => Labels | undefined;
  /** Absent: claims are not considered. */
  readonly volumes?: VolumeWorld;
};
