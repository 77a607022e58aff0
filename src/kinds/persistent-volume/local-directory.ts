// Volumes that are directories of nodes, made by Fairlead: the controllers make the objects, and the agent of the node the
// directories. Both read here what belongs to whom.
import { createHash } from 'node:crypto';
import { hostnameLabel } from '../../meta/well-known-labels.ts';
import { provisionedByAnnotation } from './binding.ts';
import type { PersistentVolume } from './types.ts';

export const localProvisioner = 'fairlead.dev/local';
/** On a volume: the directory is still to be deleted, by the agent of its node. */
export const directoryFinalizer = 'fairlead.dev/local-directory';
/** On a volume: the node, by which its agent selects. Long names are hashed: labels have 63 characters. */
const nodeLabel = 'fairlead.dev/volume-node';
/** On a Node: where its agent puts such directories. */
export const volumesDirectoryAnnotation = 'fairlead.dev/volumes-directory';

const maxLabelLength = 63;

function labelValue(node: string): string {
  if (node.length <= maxLabelLength) return node;
  return createHash('sha256').update(node).digest('hex').slice(0, maxLabelLength);
}

export const volumeLabels = (node: string): Readonly<Record<string, string>> => ({
  [nodeLabel]: labelValue(node),
});

/** Whether the volume is a directory of Fairlead's on that node. */
export const isLocalDirectory = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[provisionedByAnnotation] === localProvisioner;

/** The one node by whose name the volume is bound; undefined where it is bound otherwise. */
export function nodeOfVolume({ spec }: PersistentVolume): string | undefined {
  const [term, ...others] = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const expression = term?.matchExpressions?.find(({ key }) => key === hostnameLabel);
  return others.length === 0 && expression?.operator === 'In' ? expression.values?.[0] : undefined;
}
