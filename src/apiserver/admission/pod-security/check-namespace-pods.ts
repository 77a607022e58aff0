// Warnings about existing pods of a namespace that a stricter level would refuse; the pods keep running.
import type { Pod } from '../../../kinds/pod/types.ts';
import { goQuote } from '../../../schema/go-quote.ts';
import { reasonsText, violationsOf } from './evaluate.ts';
import { type LevelVersion, policyText } from './policy.ts';

/** Upstream's limits: checking all pods of a large namespace would take too long. */
const maxPods = 3000;
const timeoutMs = 1000;
/** After this long, other requests run. */
const sliceMs = 10;

export type NamespaceCheck = {
  readonly namespace: string;
  readonly enforce: LevelVersion;
  readonly pods: readonly Pod[];
  readonly isExempt: (pod: Pod) => boolean;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Yields to the event loop. */
  readonly pause: () => Promise<void>;
};

type Found = { readonly name: string; readonly count: number };

export async function warningsAboutPods(check: NamespaceCheck): Promise<readonly string[]> {
  const { namespace, enforce, clock } = check;
  const pods = inOrder(check);
  const found = new Map<string, Found>();
  const startedAt = clock();
  let pausedAt = startedAt;
  let checked = 0;
  for (const pod of pods.slice(0, maxPods)) {
    note(found, pod, enforce);
    checked += 1;
    const now = clock();
    if (now - startedAt > timeoutMs) break;
    if (now - pausedAt > sliceMs) {
      await check.pause();
      pausedAt = clock();
    }
  }
  const partly =
    checked < pods.length
      ? [
          `new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`,
        ]
      : [];
  if (found.size === 0) return partly;
  const level = goQuote(policyText(enforce));
  const title = `existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${level}`;
  return [...partly, title, ...[...found].map(podsText).sort()];
}

/** One pod of each controller first: its other pods are most likely the same. */
function inOrder({ pods, isExempt }: NamespaceCheck): readonly Pod[] {
  const seen = new Set<string>();
  const first: Pod[] = [];
  const others: Pod[] = [];
  for (const pod of pods) {
    if (isExempt(pod)) continue;
    const { uid } = pod.metadata.ownerReferences?.find(({ controller }) => controller) ?? {};
    (uid !== undefined && seen.has(uid) ? others : first).push(pod);
    if (uid !== undefined) seen.add(uid);
  }
  return [...first, ...others];
}

function note(found: Map<string, Found>, { metadata, spec }: Pod, enforce: LevelVersion): void {
  const { name = '', annotations = {} } = metadata;
  const reasons = reasonsText(violationsOf(enforce, { annotations, spec }));
  if (reasons === '') return;
  const { name: before = name, count = 0 } = found.get(reasons) ?? {};
  const [first = name] = [name, before].sort();
  found.set(reasons, { name: first, count: count + 1 });
}

function podsText([reasons, { name, count }]: readonly [string, Found]): string {
  const others = count === 1 ? '' : ` (and ${count - 1} other ${count === 2 ? 'pod' : 'pods'})`;
  return `${name}${others}: ${reasons}`;
}
