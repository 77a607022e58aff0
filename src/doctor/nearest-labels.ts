// What a selector that matches nothing could have meant: the label set that it misses by the least.
import type { Labels } from '../meta/labels.ts';
import { namingKeys } from './app-labels.ts';
import { areSimilar, editDistance, similarWord } from './edit-distance.ts';
import type { LabelSet } from './label-sets.ts';

/** How one label of the selector misses the pods. */
export type LabelMiss = {
  readonly key: string;
  readonly value: string;
  readonly reason: 'value-similar' | 'key-similar' | 'value-differs' | 'key-missing';
  /** What the pods have instead; absent for `key-missing`. */
  readonly has?: { readonly key: string; readonly value: string };
};

export type NearMiss = {
  readonly set: LabelSet;
  readonly misses: readonly LabelMiss[];
  /** The selector that matches the set, with null for the keys that it must lose. */
  readonly change: Readonly<Record<string, string | null>>;
};

const costs: Readonly<Record<LabelMiss['reason'], number>> = {
  'value-similar': 1,
  'key-similar': 1,
  'key-missing': 2.5,
  'value-differs': 3,
};
/** More than two differences of which one is not even similar are another set. */
const maxCost = 4;

export function nearestLabels(selector: Labels, sets: readonly LabelSet[]): NearMiss | undefined {
  let best: { readonly miss: NearMiss; readonly cost: number } | undefined;
  for (const set of sets) {
    const misses = missesOf(selector, set.labels);
    const cost = misses.reduce((sum, miss) => sum + costs[miss.reason] + detail(miss), 0);
    if (misses.length === 0 || cost > maxCost || !isNear(selector, misses)) continue;
    if (best === undefined || cost < best.cost) {
      best = { miss: { set, misses, change: changeOf(misses) }, cost };
    }
  }
  return best?.miss;
}

/** Prefers fewer edits among similar values; never as much as a whole difference. */
function detail({ value, key, has, reason }: LabelMiss): number {
  if (has === undefined || reason === 'value-differs') return 0;
  const edits = editDistance(`${key}=${value}`, `${has.key}=${has.value}`, 60) ?? 60;
  return edits / 100;
}

/** Either every label is similar to one that is there, or at least one is exactly there. */
function isNear(selector: Labels, misses: readonly LabelMiss[]): boolean {
  if (misses.every(({ reason }) => reason === 'value-similar' || reason === 'key-similar')) {
    return true;
  }
  return misses.length < Object.keys(selector).length;
}

function missesOf(selector: Labels, labels: Labels): readonly LabelMiss[] {
  return Object.entries(selector).flatMap(([key, value]) => {
    const present = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (present === value) return [];
    return [
      present === undefined ? missingKey(key, value, labels) : otherValue(key, value, present),
    ];
  });
}

function otherValue(key: string, value: string, present: string): LabelMiss {
  const reason = areSimilar(value, present) ? 'value-similar' : 'value-differs';
  return { key, value, reason, has: { key, value: present } };
}

/** The same value under a similar key, or under another of the keys for names. */
function missingKey(key: string, value: string, labels: Labels): LabelMiss {
  const isName = namingKeys.has(key);
  const sameValue = Object.keys(labels).filter(
    (other) =>
      labels[other] === value && (areSimilar(key, other) || (isName && namingKeys.has(other))),
  );
  const similarKey = sameValue[0] ?? similarWord(key, Object.keys(labels));
  const present = similarKey === undefined ? undefined : labels[similarKey];
  if (similarKey === undefined || present === undefined) {
    return { key, value, reason: 'key-missing' };
  }
  if (present !== value && !areSimilar(present, value))
    return { key, value, reason: 'key-missing' };
  return { key, value, reason: 'key-similar', has: { key: similarKey, value: present } };
}

function changeOf(misses: readonly LabelMiss[]): NearMiss['change'] {
  return Object.fromEntries(
    misses.flatMap(({ key, has }): [string, string | null][] => {
      if (has === undefined) return [[key, null]];
      return has.key === key
        ? [[key, has.value]]
        : [
            [key, null],
            [has.key, has.value],
          ];
    }),
  );
}
