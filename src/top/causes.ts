// Why connections, or their bytes, are not spread evenly. Each cause has the numbers that show it; where none does, that is said.
import type { EndpointSet } from '../kinds/part/traffic.ts';
import { type ClientClass, type Comparison, endpointKey } from './compare-shares.ts';
import type { CountedRow } from './merge-traffic.ts';
import type { Cause, Share } from './top-services.ts';

export type SkewFacts = {
  readonly comparison: Comparison;
  readonly rows: readonly CountedRow[];
  readonly affinitySeconds?: number;
  /** How an endpoint is called, by its key. */
  readonly nameOf: (key: string) => string;
  /** How long the pod of an endpoint has been ready; undefined where that is not known. */
  readonly readyForMs: (key: string) => number | undefined;
};

/** Endpoints by their keys, the one that stands out most first. */
export type Deviating = readonly (readonly [string, Share])[];

export type Deviations = {
  /** Endpoints that have not their even share. */
  readonly deviating: Deviating;
  /** Those of which the rules of the nodes do not explain it. */
  readonly unexplained: Deviating;
};

export function causesOfConnections(
  facts: SkewFacts,
  { deviating, unexplained }: Deviations,
): readonly Cause[] {
  // Where the rules lead to the share that was observed, they are the cause.
  const areRules = deviating.some(([, { even, expected }]) => differ(expected, even));
  const causes = [
    ...(areRules ? [localCause(facts), hintsCause(facts)] : []),
    ...(unexplained.length > 0
      ? [
          ...affinityCauses(facts),
          schedulerCause(facts),
          unansweredCause(facts, unexplained),
          addedCause(facts, unexplained),
        ]
      : []),
  ].filter((cause) => cause !== undefined);
  if (causes.length > 0) return causes;
  return [longConnections(facts) ?? notKnown];
}

const notKnown: Cause = {
  code: 'not-known',
  evidence: 'no policy, hint, affinity or scheduler explains it',
};

const minDifference = 0.1;
const differ = (a: number, b: number): boolean => Math.abs(a - b) > minDifference * Math.max(a, b);

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

function localCause({ comparison }: SkewFacts): Cause | undefined {
  return classCause(comparison.classes, ofSet('local'), (classes, connections) => ({
    code: 'policy-local',
    evidence: `${connections} of ${count(comparison.connections, 'connection')} came under policy Local: ${nodesText(classes)}`,
  }));
}

function hintsCause({ comparison }: SkewFacts): Cause | undefined {
  const isHinted = ({ why }: ClientClass): boolean => why === 'same-zone' || why === 'same-node';
  return classCause(comparison.classes, isHinted, (classes, connections) => ({
    code: 'hints',
    evidence: `hints kept ${connections} of ${count(comparison.connections, 'connection')} near their clients: ${nodesText(classes)}`,
  }));
}

const ofSet =
  (set: EndpointSet) =>
  (one: ClientClass): boolean =>
    one.set === set;

function classCause(
  all: readonly ClientClass[],
  isOf: (one: ClientClass) => boolean,
  make: (classes: readonly ClientClass[], connections: number) => Cause,
): Cause | undefined {
  const classes = all.filter(isOf);
  if (classes.length === 0) return undefined;
  return make(
    classes,
    classes.reduce((sum, { connections }) => sum + connections, 0),
  );
}

const maxNodes = 3;

/** Nodes with the most connections for each of their endpoints. */
function nodesText(classes: readonly ClientClass[]): string {
  const load = ({ connections, choices }: ClientClass): number => connections / choices.size;
  const sorted = [...classes].sort((a, b) => load(b) - load(a));
  const shown = sorted
    .slice(0, maxNodes)
    .map(
      ({ node, connections, choices }) =>
        `${connections} at node ${node} for ${count(choices.size, 'endpoint')}`,
    );
  return sorted.length > maxNodes ? `${shown.join(', ')}, ...` : shown.join(', ');
}

/** Of so few clients for each endpoint, some endpoints get several and others none. */
const fewClientsPerEndpoint = 10;

function affinityCauses(facts: SkewFacts): readonly Cause[] {
  const { affinitySeconds, comparison, rows } = facts;
  if (affinitySeconds === undefined) return [];
  const clients = rows.reduce((sum, row) => sum + row.clients, 0);
  const of = clients === 0 ? '' : ` of ${clients === 1 ? 'one client' : `${clients} clients`}`;
  const affinity: Cause = {
    code: 'affinity',
    evidence: `session affinity keeps all connections${of} where the first one went, for ${affinitySeconds} s`,
  };
  const endpoints = comparison.usable.length;
  if (clients === 0 || clients >= fewClientsPerEndpoint * endpoints) return [affinity];
  return [
    affinity,
    {
      code: 'few-clients',
      evidence: `${count(clients, 'client address')} for ${count(endpoints, 'endpoint')}`.replace(
        'addresss',
        'addresses',
      ),
    },
  ];
}

function schedulerCause({ rows }: SkewFacts): Cause | undefined {
  const names = [...new Set(rows.flatMap(({ scheduler }) => scheduler ?? []))].sort();
  if (names.length === 0) return undefined;
  return {
    code: 'scheduler',
    evidence: `the scheduler ${names.join(', ')} of IPVS does not mean to be even`,
  };
}

/** Clients that get no answer try again. */
function unansweredCause(facts: SkewFacts, deviating: Deviating): Cause | undefined {
  for (const [key, { observed, expected }] of deviating) {
    const own = facts.rows.filter((row) => endpointKey(row) === key);
    const tracked = sum(own, (row) => row.tracked);
    const unanswered = sum(own, (row) => row.unanswered);
    if (observed < expected || unanswered * 2 < tracked) continue;
    return {
      code: 'unanswered',
      evidence: `${facts.nameOf(key)} has not answered ${unanswered} of ${count(tracked, 'connection')}`,
    };
  }
  return undefined;
}

/** Connections that ended are known for two minutes; those that last are older than that. */
const newForMs = 600_000;

function addedCause(facts: SkewFacts, deviating: Deviating): Cause | undefined {
  const ages = facts.comparison.usable.map((one) => facts.readyForMs(one) ?? 0);
  const oldest = Math.max(0, ...ages);
  for (const [key, { observed, expected }] of deviating) {
    const readyForMs = facts.readyForMs(key);
    if (observed > expected || readyForMs === undefined) continue;
    // Those that became ready together had the same chance from the start.
    if (readyForMs > newForMs || readyForMs > oldest / 2) continue;
    return {
      code: 'added-endpoint',
      evidence: `${facts.nameOf(key)} has been ready for ${Math.round(readyForMs / 1000)} s: older connections are elsewhere`,
    };
  }
  return undefined;
}

const sum = (rows: readonly CountedRow[], value: (row: CountedRow) => number): number =>
  rows.reduce((total, row) => total + value(row), 0);

/** Where nearly all are open and hardly any begins, they are as they were when they began. */
const openShare = 0.9;
const newShare = 0.01;

function longConnections({ rows }: SkewFacts): Cause | undefined {
  const tracked = sum(rows, (row) => row.tracked);
  const open = sum(rows, (row) => row.open);
  const opened = sum(rows, (row) => row.opened);
  if (open < openShare * tracked || opened > newShare * tracked) return undefined;
  return {
    code: 'long-connections',
    evidence: `${open} of ${count(tracked, 'connection')} are open and ${opened} began meanwhile: they stay where they began, also when endpoints change`,
  };
}
