// The connections of a service port by endpoint: as many as are there, as many as there should be by the rules of the nodes at which they
// began, and as many as there would be without policies and hints.
import type { EndpointSet } from '../kinds/part/traffic.ts';
import type { ChoiceReason } from '../proxy/model/select-endpoints.ts';
import type { CountedRow } from './merge-traffic.ts';
import { type PortChoice, usableEndpoints } from './node-choices.ts';
import { shareInterval } from './statistics.ts';
import type { Share } from './top-services.ts';

/** Connections that could go to the same endpoints: of one node, under one policy. */
export type ClientClass = {
  readonly node: string;
  readonly set: EndpointSet;
  /** Why these endpoints; of policy Cluster. */
  readonly why?: ChoiceReason;
  /** Keys of the endpoints that they are spread over. */
  readonly choices: ReadonlySet<string>;
  readonly connections: number;
};

export type Comparison = {
  readonly classes: readonly ClientClass[];
  /** Of the connections that are compared. */
  readonly connections: number;
  readonly usable: readonly string[];
  /** By endpoint. */
  readonly shares: ReadonlyMap<string, Share>;
};

/** `ip port`. */
export const endpointKey = ({ ip, port }: { readonly ip: string; readonly port: number }): string =>
  `${ip} ${port}`;

/** Only connections that the present rules could have made are compared: others stay where earlier rules sent them. */
export function compareShares(
  rows: readonly CountedRow[],
  choice: PortChoice,
  choiceAt: (node: string) => PortChoice | undefined,
): Comparison {
  const usable = usableEndpoints(choice).map(endpointKey);
  const counts = new Map(usable.map((key) => [key, 0]));
  const expected = new Map(usable.map((key) => [key, 0]));
  const classes = groupRows(rows).flatMap((group) => classOf(group, choiceAt) ?? []);
  for (const { choices, rows: counted, connections } of classes) {
    for (const key of choices) add(expected, key, connections / choices.size);
    for (const row of counted) {
      const key = endpointKey(row);
      if (choices.has(key)) add(counts, key, row.tracked);
    }
  }
  const connections = classes.reduce((sum, one) => sum + one.connections, 0);
  const shares = new Map<string, Share>();
  if (connections > 0) {
    for (const [key, hits] of counts) {
      const of = { hits, trials: connections, comparisons: counts.size };
      shares.set(key, {
        even: usable.includes(key) ? 1 / usable.length : 0,
        expected: (expected.get(key) ?? 0) / connections,
        observed: hits / connections,
        ...shareInterval(of),
      });
    }
  }
  return { classes, connections, usable, shares };
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function groupRows(rows: readonly CountedRow[]): readonly (readonly CountedRow[])[] {
  const groups = new Map<string, CountedRow[]>();
  for (const row of rows) {
    const key = `${row.node} ${row.set}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function classOf(
  rows: readonly CountedRow[],
  choiceAt: (node: string) => PortChoice | undefined,
): (ClientClass & { readonly rows: readonly CountedRow[] }) | undefined {
  const [first] = rows;
  // Where it cannot be said which policy applied, it cannot be said what was to be expected.
  if (first === undefined || first.set === 'unknown') return undefined;
  const { node, set } = first;
  const choice = choiceAt(node);
  const endpoints = set === 'local' ? choice?.local : choice?.cluster;
  const choices = new Set((endpoints ?? []).map(endpointKey));
  const counted = rows.filter((row) => row.isEligible && choices.has(endpointKey(row)));
  const connections = counted.reduce((sum, { tracked }) => sum + tracked, 0);
  const why = set === 'cluster' ? choice?.why : undefined;
  const result = { node, set, choices, connections, rows: counted };
  return connections === 0 ? undefined : { ...result, ...(why === undefined ? {} : { why }) };
}
