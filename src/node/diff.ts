// Which pods came, changed and went, between what the API shows and what the agent works on.

import { isMirrorPod } from '../kinds/pod/mirror.ts';
import type { Pod } from '../kinds/pod/types.ts';

export type PodChanges = {
  readonly start: readonly Pod[];
  readonly update: readonly Pod[];
  /** Uids of pods that are no longer there. */
  readonly remove: readonly string[];
};

/** By uid: a pod of the same name that was made anew is another pod. */
export function diffPods(pods: Iterable<Pod>, working: ReadonlyMap<string, Pod>): PodChanges {
  const start: Pod[] = [];
  const update: Pod[] = [];
  const present = new Set<string>();
  for (const pod of pods) {
    // What a node shows of pods from files of its own is not for us to run.
    if (isMirrorPod(pod)) continue;
    const uid = pod.metadata.uid ?? '';
    present.add(uid);
    const known = working.get(uid);
    if (known === undefined) start.push(pod);
    else if (known.metadata.resourceVersion !== pod.metadata.resourceVersion) update.push(pod);
  }
  return { start, update, remove: [...working.keys()].filter((uid) => !present.has(uid)) };
}
