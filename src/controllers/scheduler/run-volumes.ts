// Claims, volumes and classes, as the scheduler reads them.
import type { SharedInformers } from '../../client/shared-informers.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { createVolumeIndex } from '../../kinds/persistent-volume/volume-index.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import { podClaim, podClaimIndex } from '../../kinds/pod/claim-index.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import { storageClassDefinition } from '../../kinds/storage-class/definition.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import type { VolumeWorld } from './volumes.ts';

export type VolumeChanges = {
  /** By `namespace/name`. */
  readonly claim: (key: string) => void;
  /** A volume or class that may help any pod. */
  readonly other: () => void;
};

export function followVolumes(shared: SharedInformers) {
  const claims = shared.of(persistentVolumeClaimDefinition);
  const volumes = shared.of(persistentVolumeDefinition);
  const classes = shared.of(storageClassDefinition);
  const pods = shared.of(podDefinition);
  pods.addIndex(podClaimIndex, podClaim);
  const free = createVolumeIndex();
  const world: VolumeWorld = {
    claimOf: (key) => claims.store.get(key),
    volumeOf: (name) => volumes.store.get(name),
    classOf: (name) => classes.store.get(name),
    freeVolume: free.smallest,
    usersOf: (key) =>
      pods.store
        .select(podClaimIndex, key)
        .filter((pod) => Boolean(pod.spec.nodeName) && !isPodFinished(pod)),
  };
  return {
    world,
    informers: [claims, volumes, classes] as const,
    onChange({ claim, other }: VolumeChanges): () => void {
      const changed = ({ metadata }: KubeObject): void => claim(objectKey(metadata));
      const stops = [
        claims.onChange({
          add: changed,
          update: (_before, after) => changed(after),
          delete: changed,
        }),
        volumes.onChange({
          add(volume) {
            free.put(volume);
            other();
          },
          update(_before, volume) {
            free.put(volume);
            other();
          },
          delete: ({ metadata }) => free.remove(metadata.name ?? ''),
        }),
        classes.onChange({ add: other, update: other }),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
