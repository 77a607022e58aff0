// Volumes of the class `local`: what to make for a claim, and what becomes of it.

import { isNodeReady } from '../../kinds/node/readiness.ts';
import type { Node } from '../../kinds/node/types.ts';
import {
  betaProvisionerAnnotation,
  provisionedByAnnotation,
  provisionerAnnotation,
  selectedNodeAnnotation,
  waitsForConsumer,
} from '../../kinds/persistent-volume/binding.ts';
import {
  directoryFinalizer,
  isLocalDirectory,
  localProvisioner,
  volumeLabels,
  volumesDirectoryAnnotation,
} from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { NodeSelectorTerm } from '../../kinds/pod/affinity.ts';
import { matchesTerm } from '../../kinds/pod/node-selection.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { hostnameLabel } from '../../meta/well-known-labels.ts';
import { compareQuantities } from '../../schema/quantity.ts';

export function isToProvision({ metadata, spec }: PersistentVolumeClaim): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  const provisioner = annotations[provisionerAnnotation] ?? annotations[betaProvisionerAnnotation];
  return provisioner === localProvisioner && !spec.volumeName && deletionTimestamp === undefined;
}

export type ProvisionPlan =
  | { readonly volume: PersistentVolume }
  /** Until a pod is scheduled, or a node is ready. */
  | { readonly wait: true }
  | { readonly problem: string };

export type ProvisionWorld = {
  readonly storage: StorageClass;
  readonly nodeOf: (name: string) => Node | undefined;
  readonly nodes: () => Iterable<Node>;
  /** How many volumes the node has: new ones go where there are fewest. */
  readonly volumesOn: (node: string) => number;
};

const unsupportedModes = ['ReadOnlyMany', 'ReadWriteMany'];

export function planVolume(claim: PersistentVolumeClaim, world: ProvisionWorld): ProvisionPlan {
  const { accessModes = [], volumeMode, selector, dataSourceRef } = claim.spec;
  const wrong = accessModes.filter((mode) => unsupportedModes.includes(mode));
  if (wrong.length > 0)
    return { problem: `a directory of one node has no access mode ${wrong.join(', ')}` };
  if (volumeMode === 'Block') return { problem: 'a directory is no block device' };
  if (selector !== undefined) return { problem: 'claim Selector is not supported' };
  if (dataSourceRef !== undefined) return { problem: 'a directory cannot be filled from a source' };
  const node = chooseNode(claim, world);
  if (node === undefined) return { wait: true };
  const directory = node.metadata.annotations?.[volumesDirectoryAnnotation];
  if (directory === undefined)
    return { problem: `node ${node.metadata.name ?? ''} has no directory for volumes` };
  return { volume: volumeFor(claim, node, directory, world.storage) };
}

function chooseNode(
  { metadata }: PersistentVolumeClaim,
  { storage, nodeOf, nodes, volumesOn }: ProvisionWorld,
): Node | undefined {
  const selected = metadata.annotations?.[selectedNodeAnnotation];
  if (selected !== undefined) return nodeOf(selected);
  if (waitsForConsumer(storage)) return undefined;
  const usable = [...nodes()].filter(
    (node) =>
      isNodeReady(node) &&
      !node.spec.unschedulable &&
      node.metadata.annotations?.[volumesDirectoryAnnotation] !== undefined &&
      isAllowed(storage, node),
  );
  const rank = ({ metadata: { name = '' } }: Node): number => volumesOn(name);
  return usable.sort(
    (a, b) => rank(a) - rank(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  )[0];
}

function isAllowed({ allowedTopologies = [] }: StorageClass, node: Node): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) => {
    const expressions = matchLabelExpressions.map(({ key, values }) => ({
      ...{ key, operator: 'In', values: values ?? [] },
    }));
    return expressions.length > 0 && matchesTerm({ matchExpressions: expressions }, node);
  });
}

function volumeFor(
  { metadata, spec }: PersistentVolumeClaim,
  node: Node,
  directory: string,
  storage: StorageClass,
): PersistentVolume {
  const { namespace = '', uid = '', resourceVersion = '' } = metadata;
  const name = `pvc-${uid}`;
  const nodeName = node.metadata.name ?? '';
  return {
    kind: 'PersistentVolume',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: volumeLabels(nodeName),
      annotations: { [provisionedByAnnotation]: localProvisioner },
      finalizers: [directoryFinalizer],
    },
    spec: {
      capacity: { storage: spec.resources.requests?.storage ?? '0' },
      accessModes: spec.accessModes ?? [],
      claimRef: {
        ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, uid, resourceVersion },
        name: metadata.name ?? '',
      },
      persistentVolumeReclaimPolicy: storage.reclaimPolicy ?? 'Delete',
      storageClassName: storage.metadata.name ?? '',
      volumeMode: 'Filesystem',
      local: { path: `${directory}/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [onlyOn(node)] } },
    },
    status: {},
  };
}

/** By its host name, as other provisioners do, and else by its own. */
function onlyOn({ metadata }: Node): NodeSelectorTerm {
  const { name = '', labels = {} } = metadata;
  const hostname = labels[hostnameLabel];
  return hostname === undefined
    ? { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }
    : { matchExpressions: [{ key: hostnameLabel, operator: 'In', values: [hostname] }] };
}

export type LocalVolumeStep = 'delete' | 'forget' | 'none';

/**
 * `delete`: the claim is gone; the agent deletes the directory then. `forget`: the node is gone, and its directories with it.
 */
export function stepOfVolume(volume: PersistentVolume, hasNode: boolean): LocalVolumeStep {
  const { metadata, spec, status } = volume;
  if (!isLocalDirectory(volume)) return 'none';
  if (metadata.deletionTimestamp !== undefined)
    return !hasNode && (metadata.finalizers ?? []).includes(directoryFinalizer) ? 'forget' : 'none';
  const isReleased = status.phase === 'Released' || status.phase === 'Failed';
  return isReleased && spec.persistentVolumeReclaimPolicy === 'Delete' ? 'delete' : 'none';
}

/** The size to which a bound claim of such a volume is to grow; undefined where it need not. */
export function wantedSize(
  { metadata, spec, status }: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): string | undefined {
  const wanted = spec.resources.requests?.storage;
  if (volume === undefined || wanted === undefined || status.phase !== 'Bound') return undefined;
  if (!isLocalDirectory(volume) || volume.spec.claimRef?.uid !== metadata.uid) return undefined;
  return compareQuantities(wanted, status.capacity?.storage ?? '0') > 0 ? wanted : undefined;
}
