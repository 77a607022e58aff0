// The pods to start, update and remove: those of the API compared with those of the workers.

import { isMirrorPod } from '../kinds/pod/mirror.ts';
import type { Pod } from '../kinds/pod/types.ts';

export type PodChanges = {
  readonly start: readonly Pod[];
  readonly update: readonly Pod[];
  /** Uids of pods that no longer exist. */
  readonly remove: readonly string[];
};

/** By uid: a recreated pod of the same name is another pod. */
export function diffPods(pods: Iterable<Pod>, working: ReadonlyMap<string, Pod>): PodChanges {
  const start: Pod[] = [];
  const update: Pod[] = [];
  const present = new Set<string>();
  for (const pod of pods) {
    // Mirror pods represent static pods of another kubelet.
    if (isMirrorPod(pod)) continue;
    const uid = pod.metadata.uid ?? '';
    present.add(uid);
    const known = working.get(uid);
    if (known === undefined) start.push(pod);
    else if (known.metadata.resourceVersion !== pod.metadata.resourceVersion) update.push(pod);
  }
  return { start, update, remove: [...working.keys()].filter((uid) => !present.has(uid)) };
}
