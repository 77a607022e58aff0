import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { claimOfVolume } from '../../kinds/pod/claim-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { controllerOf, ownerReferenceTo } from '../../meta/owner.ts';

/** The claims of the pod's ephemeral volumes. */
export function claimsToMake(pod: Pod): readonly PersistentVolumeClaim[] {
  const { name: podName = '', namespace = '' } = pod.metadata;
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const template = volume.ephemeral?.volumeClaimTemplate;
    const name = claimOfVolume(podName, volume);
    if (template === undefined || name === undefined) return [];
    const { labels, annotations } = template.metadata;
    return [
      {
        kind: persistentVolumeClaimDefinition.kind,
        apiVersion: persistentVolumeClaimDefinition.version,
        metadata: {
          ...{ name, namespace },
          ...(labels === undefined ? {} : { labels }),
          ...(annotations === undefined ? {} : { annotations }),
          ownerReferences: [ownerReferenceTo(pod)],
        },
        spec: template.spec,
        status: {},
      },
    ];
  });
}

/** Whether the claim was made for this pod: another claim of that name is not mounted. */
export const isClaimOf = (claim: PersistentVolumeClaim, { metadata }: Pod): boolean =>
  controllerOf(claim)?.uid === metadata.uid;
