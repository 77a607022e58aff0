// How much harm a change does to a Service, and the sentence that says so.
import type { ComparedView } from './compare-service.ts';
import type {
  Connections,
  EntranceChange,
  Level,
  NameChange,
  ServiceComparison,
  View,
} from './what-if.ts';
import { levels } from './what-if.ts';
import { counted, namesText } from './words.ts';

export type Found = {
  readonly existence: ServiceComparison['existence'];
  readonly views: readonly ComparedView[];
  readonly entrances: readonly EntranceChange[];
  readonly names: readonly NameChange[];
  readonly connections: Connections;
};

export type JudgeChangeOptions = {
  /** Nodes that a drain has emptied of clients but for DaemonSets and static pods. */
  readonly drained: ReadonlySet<string>;
  /** Whether the load balancer checks which nodes have endpoints, and sends to no other. */
  readonly isHealthChecked: boolean;
};

export type Judgement = Pick<ServiceComparison, 'level' | 'sentence'>;

export function judgeChange(found: Found, options: JudgeChangeOptions): Judgement {
  const { existence } = found;
  const views = found.views.map(({ view }) => view);
  const isUsed = ({ before }: View): boolean => before === 'answered';
  const lost = views.filter((view) => isUsed(view) && view.after !== 'answered');
  const serious = found.views
    .filter((one) => lost.includes(one.view) && isSerious(one, options))
    .map(({ view }) => view);
  const gaps = views.filter(({ meanwhile }) => meanwhile !== undefined);
  if (existence === 'deleted') {
    return { level: lost.length > 0 ? 'outage' : 'change', sentence: 'is deleted' };
  }
  if (serious.length > 0) return { level: 'outage', sentence: lossText(serious) };
  if (gaps.length > 0) {
    const clients = clientsText(gaps);
    const sentence = `has no endpoint for ${clients} until a new pod is ready`;
    return { level: 'interruption', sentence };
  }
  if (existence === 'created') return { level: 'change', sentence: 'is created' };
  if (lost.length > 0) return { level: 'change', sentence: lossText(lost) };
  return { level: isDifferent(found) ? 'change' : 'none', sentence: changeText(found) };
}

function isSerious(
  { view, by, isAnsweredSomewhere }: ComparedView,
  { drained, isHealthChecked }: JudgeChangeOptions,
): boolean {
  const { nodes } = view.clients;
  if (nodes === undefined) return true;
  if (by === 'cluster') return nodes.some((node) => !drained.has(node));
  // A balancer that checks sends elsewhere, if there is a node that answers.
  return !(by === 'address' && isHealthChecked && isAnsweredSomewhere);
}

function isDifferent({ views, entrances, names, connections }: Found): boolean {
  const { ends, stays } = connections;
  return [views, entrances, names, ends, stays].some((list) => list.length > 0);
}

function lossText(views: readonly View[]): string {
  const isWithout = views.every(({ after }) => after !== 'no-service');
  const ports = namesText([...new Set(views.map(({ port, protocol }) => `${port}/${protocol}`))]);
  const clients = clientsText(views);
  return isWithout
    ? `loses its last endpoint for ${clients}`
    : `no longer answers at port ${ports} for ${clients}`;
}

const clientsText = (views: readonly View[]): string => {
  const isAll = views.some(
    ({ clients }) => clients.from === 'cluster' && clients.nodes === undefined,
  );
  if (isAll) return 'all clients';
  return [...new Set(views.map(({ clients }) => clients.sentence))].slice(0, 2).join(' and ');
};

function changeText({ views: compared, entrances, names, connections }: Found): string {
  const views = compared.map(({ view }) => view);
  const gained = views.filter(({ before, after }) => before !== 'answered' && after === 'answered');
  if (gained.length > 0) return `is answered for ${clientsText(gained)}, as it was not before`;
  const { ends } = connections;
  const parts = [
    ...(views.length > 0 ? ['shares new connections differently'] : []),
    ...(ends.length > 0 ? [`loses open connections to ${counted(ends.length, 'pod')}`] : []),
    ...(entrances.length > 0 ? ['has other addresses or ports'] : []),
    ...(names.length > 0 && views.length === 0 ? ['has other names'] : []),
  ];
  return parts.length === 0 ? 'does not change' : parts.join(' and ');
}

export const compareLevels = (a: Level, b: Level): number => levels.indexOf(b) - levels.indexOf(a);
