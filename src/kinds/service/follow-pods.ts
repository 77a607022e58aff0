// Maps changes of Services and pods to the Services whose endpoints have to be synced.
import { objectKey } from '../../meta/object.ts';
import type { Pod } from '../pod/types.ts';
import { canAnswer, hasSelectedPods, isSameBackend } from './backends.ts';
import { createSelectorIndex } from './selector-index.ts';
import type { Service } from './types.ts';

export type Followed = {
  /** The Service was added, changed or deleted. */
  readonly serviceChanged: (key: string) => void;
  /** A pod that the Service selects, or selected, was added, changed or deleted. */
  readonly podsChanged: (key: string) => void;
};

export function followPods({ serviceChanged, podsChanged }: Followed) {
  const index = createSelectorIndex();
  const nameOf = ({ metadata }: Service | Pod) => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
  });
  const setService = (service: Service): void => {
    index.set(nameOf(service), hasSelectedPods(service) ? service.spec.selector : undefined);
    serviceChanged(objectKey(service.metadata));
  };
  const keysOf = ({ metadata }: Pod): readonly string[] => {
    const namespace = metadata.namespace ?? '';
    return index.matching(namespace, metadata.labels).map((name) => `${namespace}/${name}`);
  };
  const podCameOrWent = (pod: Pod): void => {
    if (canAnswer(pod, true)) for (const key of keysOf(pod)) podsChanged(key);
  };
  return {
    services: {
      add: setService,
      update: (_before: Service, after: Service): void => setService(after),
      delete: (service: Service): void => {
        index.remove(nameOf(service));
        serviceChanged(objectKey(service.metadata));
      },
    },
    pods: {
      add: podCameOrWent,
      update: (before: Pod, after: Pod): void => {
        if (isSameBackend(before, after)) return;
        for (const key of new Set([...keysOf(before), ...keysOf(after)])) podsChanged(key);
      },
      delete: podCameOrWent,
    },
    /** The Services that select the pod. */
    keysOf,
  };
}
