// For tests: comparisons over a small cluster that is settled.
import assert from 'node:assert/strict';
import { nftables } from '../proxy/modes/nftables/mode.ts';
import { clusterSettings } from '../snapshot/cluster-settings.ts';
import { exampleSnapshot, now } from '../snapshot/example.ts';
import { indexSnapshot } from '../snapshot/index-snapshot.ts';
import { settle } from '../snapshot/settle.ts';
import type { Snapshot, SnapshotObjects } from '../snapshot/snapshot.ts';
import { compareCluster } from './compare-cluster.ts';
import { type ChangeWord, parseChange } from './parse-change.ts';
import type { ServiceComparison, WhatIf } from './what-if.ts';

/** Two nodes in two zones, a Deployment of three pods, and its Service, with other objects on request. */
export const exampleCluster = (objects: Partial<SnapshotObjects> = {}): Snapshot =>
  settle(exampleSnapshot(objects), { now });

export type ExampleChange = readonly [ChangeWord, string];

export function exampleWhatIf(
  snapshot: Snapshot,
  changes: readonly ExampleChange[],
  scope?: string,
): WhatIf {
  return compareCluster(
    snapshot,
    {
      changes: changes.map(([word, text]) => parseChange(word, text, 'default')),
      ...{ namespace: 'default', now: now + 60_000 },
      ...(scope === undefined ? {} : { scope }),
    },
    { settings: clusterSettings(indexSnapshot(snapshot)), mode: nftables },
  );
}

/** Views in short: `clients outcome before→after: shares of endpoints by node`. */
export const viewsInShort = ({ views }: ServiceComparison): readonly string[] =>
  views.map(({ port, clients, before, meanwhile, after, endpoints }) => {
    const path = [before, meanwhile, after].filter((one) => one !== undefined).join('>');
    const shares = endpoints.map(
      (one) =>
        `${one.isNew ? 'new@' : ''}${one.node ?? one.address} ${percent(one.before)}>${percent(one.after)}`,
    );
    return `${port} ${clients.sentence}: ${path}: ${shares.sort().join(', ')}`;
  });

const percent = (share: number): string => String(Math.round(share * 100));

export const podOn = ({ objects }: Snapshot, node: string): string =>
  objects.pods.find(({ spec }) => spec.nodeName === node)?.metadata.name ?? '';

export function serviceIn({ services }: WhatIf, name = 'web'): ServiceComparison {
  const found = services.find((one) => one.name === name);
  assert.ok(found !== undefined, `${name} is compared`);
  return found;
}
