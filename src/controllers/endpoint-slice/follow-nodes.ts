// Which changes of nodes matter to endpoints: the zone of the pods on them, and how much they weigh in their zone.
import type { Node } from '../../kinds/node/types.ts';
import { zoneLabel } from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { isNodeReady } from './zone-shares.ts';

export type NodeFollower = {
  /** The node came, went or is in another zone now. */
  readonly homeChanged: (node: Node) => void;
  /** Zones may have more or less CPU than before. */
  readonly weightChanged: () => void;
};

export function followNodes({ homeChanged, weightChanged }: NodeFollower) {
  const cameOrWent = (node: Node): void => {
    homeChanged(node);
    weightChanged();
  };
  return {
    add: cameOrWent,
    update(before: Node, after: Node): void {
      if (zoneOf(before) !== zoneOf(after)) homeChanged(after);
      if (!weighsTheSame(before, after)) weightChanged();
    },
    delete: cameOrWent,
  };
}

const zoneOf = ({ metadata }: Node): string | undefined => metadata.labels?.[zoneLabel];

/** Nodes report often, and mostly nothing of this. */
function weighsTheSame(before: Node, after: Node): boolean {
  return (
    isNodeReady(before) === isNodeReady(after) &&
    before.status.allocatable?.cpu === after.status.allocatable?.cpu &&
    deepEqual(before.metadata.labels, after.metadata.labels)
  );
}
