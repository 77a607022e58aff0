// Filters changes of nodes for those that affect endpoints: the zone of the pods on a node, and the CPUs of a zone.
import type { Node } from '../../kinds/node/types.ts';
import { zoneLabel } from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { isNodeReady } from './zone-shares.ts';

export type NodeFollower = {
  /** The node was added, deleted or moved to another zone. */
  readonly zoneChanged: (node: Node) => void;
  /** The CPUs of zones may have changed. */
  readonly capacityChanged: () => void;
};

export function followNodes({ zoneChanged, capacityChanged }: NodeFollower) {
  const addedOrDeleted = (node: Node): void => {
    zoneChanged(node);
    capacityChanged();
  };
  return {
    add: addedOrDeleted,
    update(before: Node, after: Node): void {
      if (zoneOf(before) !== zoneOf(after)) zoneChanged(after);
      if (!hasSameCapacity(before, after)) capacityChanged();
    },
    delete: addedOrDeleted,
  };
}

const zoneOf = ({ metadata }: Node): string | undefined => metadata.labels?.[zoneLabel];

/** Most updates of nodes are heartbeats. */
function hasSameCapacity(before: Node, after: Node): boolean {
  return (
    isNodeReady(before) === isNodeReady(after) &&
    before.status.allocatable?.cpu === after.status.allocatable?.cpu &&
    deepEqual(before.metadata.labels, after.metadata.labels)
  );
}
