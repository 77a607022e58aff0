// Volumes that are directories of nodes, made by Fairlead: the controllers make the objects, and the agent of the node the
// directories. Both read here what belongs to whom.
import { createHash } from 'node:crypto';
import { provisionedByAnnotation } from './binding.ts';
import type { PersistentVolume } from './types.ts';

export const localProvisioner = 'fairlead.dev/local';
/** The class that claims get in `up`. */
export const localClassName = 'local';
/** On a volume: the directory is still to be deleted, by the agent of its node. */
export const directoryFinalizer = 'fairlead.dev/local-directory';
/** On a volume: the node, by which its agent selects. Long names are hashed: labels have 63 characters. */
const nodeLabel = 'fairlead.dev/volume-node';
/** On a Node: where its agent puts such directories. */
export const volumesDirectoryAnnotation = 'fairlead.dev/volumes-directory';

const maxLabelLength = 63;

/** The value of the label. */
export function nodeKey(node: string): string {
  if (node.length <= maxLabelLength) return node;
  return createHash('sha256').update(node).digest('hex').slice(0, maxLabelLength);
}

export const volumesOfNode = (node: string): string => `${nodeLabel}=${nodeKey(node)}`;
export const volumeLabels = (node: string): Readonly<Record<string, string>> => ({
  [nodeLabel]: nodeKey(node),
});

/** Whether the volume is a directory of Fairlead's on that node. */
export const isLocalDirectory = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[provisionedByAnnotation] === localProvisioner;

export const isOnNode = ({ metadata }: PersistentVolume, node: string): boolean =>
  metadata.labels?.[nodeLabel] === nodeKey(node);

/** The node of the volume, as nodeKey() gives it. */
export const nodeKeyOf = ({ metadata }: PersistentVolume): string | undefined =>
  metadata.labels?.[nodeLabel];
