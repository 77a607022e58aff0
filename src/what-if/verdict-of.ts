// The whole in one sentence, which stands first.
import type { Level, PodChanges, ServiceComparison, Verdict } from './what-if.ts';
import { counted, namesText } from './words.ts';

export function verdictOf(
  services: readonly ServiceComparison[],
  { unscheduled }: PodChanges,
  scope: string | undefined,
): Verdict {
  const [worst] = services;
  const where = scope === undefined ? '' : ` of namespace ${scope}`;
  const waiting = unscheduled.reduce((sum, { count }) => sum + count, 0);
  const also = waiting === 0 ? '' : `; ${counted(waiting, 'new pod')} would find no node`;
  if (worst === undefined) {
    return { level: 'none', sentence: `Nothing changes for any Service${where}${also}` };
  }
  const alike = services.filter(({ level }) => level === worst.level);
  return { level: worst.level, sentence: `${sentences[worst.level](alike, services)}${also}` };
}

type Sentence = (alike: readonly ServiceComparison[], all: readonly ServiceComparison[]) => string;

const nameOf = ({ namespace, name }: ServiceComparison): string => `${namespace}/${name}`;

const only = (some: readonly ServiceComparison[], what: string): string => {
  const [first, ...others] = some;
  return first === undefined || others.length > 0
    ? `${counted(some.length, 'Service')} ${what}: ${namesText(some.map(nameOf))}`
    : `Service ${nameOf(first)} ${first.sentence}`;
};

const sentences: Readonly<Record<Level, Sentence>> = {
  none: () => 'Nothing changes',
  outage: (alike) => `Outage: ${only(alike, 'are no longer answered for some or all clients')}`,
  interruption: (alike) =>
    `Interruption: ${only(alike, 'have no endpoint until new pods are ready')}`,
  change: (alike, all) =>
    all.length === 1
      ? `${only(alike, '')}`
      : `${counted(all.length, 'Service')} change, and none loses its last endpoint`,
};
