import type { NodeSpec, NodeStatus } from '../../kinds/node/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';

/** What the proxy reads of its own Node. */
export type NodeObject = {
  readonly metadata: ObjectMeta;
  readonly spec: Pick<NodeSpec, 'podCIDR' | 'podCIDRs' | 'taints'>;
  readonly status: Pick<NodeStatus, 'addresses'>;
};
