// Lists the kernel's connections on a thread of its own, which lives for one measurement: a large table takes seconds to list.
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { insideNamespace } from '../../host/namespaces.ts';
import { type FlowScan, openFlowScan } from '../../host/netlink/scan-flows.ts';
import type { Family } from '../model/state.ts';
import { createFlowCounter, type FlowCount } from './count-flows.ts';
import type { FlowTargets } from './targets.ts';

export type FlowReading = {
  readonly families: readonly Family[];
  readonly targets: FlowTargets;
  /** Absent: that of this process. */
  readonly namespacePath?: string;
};

export type FlowReply =
  /** With how long the listing took. */
  | { readonly kind: 'listed'; readonly busyMs: number }
  | {
      readonly kind: 'counted';
      readonly busyMs: number;
      readonly isPartial: boolean;
      readonly isAccounting: boolean;
    }
  /** Empty after the last ones. */
  | { readonly kind: 'rows'; readonly rows: readonly FlowCount[] }
  | { readonly kind: 'failed'; readonly reason: string };

/** Seen by this thread: that of its own network namespace. */
const accountingSetting = '/proc/sys/net/netfilter/nf_conntrack_acct';

const { families, targets, namespacePath } = workerData as FlowReading;
const counter = createFlowCounter(targets);
let scan: FlowScan | undefined;

function reply(message: FlowReply): void {
  parentPort?.postMessage(message);
}

function list(visit: typeof counter.first): void {
  scan ??= openFlowScan(namespacePath === undefined ? {} : { namespacePath });
  for (const family of families) scan.scan(family, visit);
}

/** As many as are read in a few milliseconds, by a thread that has other work. */
const rowsOfReply = 1000;
let rows: FlowCount[] = [];

parentPort?.on('message', (request: 'first' | 'second' | 'rows') => {
  try {
    if (request === 'rows') return reply({ kind: 'rows', rows: rows.splice(-rowsOfReply) });
    const startedAt = performance.now();
    list(counter[request]);
    const busyMs = performance.now() - startedAt;
    if (request === 'first') return reply({ kind: 'listed', busyMs });
    const counts = counter.counts();
    rows = [...counts.rows];
    reply({ kind: 'counted', busyMs, isPartial: counts.isPartial, isAccounting: isAccounting() });
  } catch (error) {
    reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
});

function isAccounting(): boolean {
  try {
    return readSetting().trim() !== '0';
  } catch (error) {
    // Kernels without the setting count nothing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function readSetting(): string {
  const read = (): string => readFileSync(accountingSetting, 'utf8');
  return namespacePath === undefined ? read() : insideNamespace(namespacePath, read);
}
