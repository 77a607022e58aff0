// Deletes conntrack entries of flows whose endpoint is gone: over netlink, or with the `conntrack` program.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Conntrack, openConntrack } from '../../host/netlink/conntrack.ts';
import type { Log } from '../../observe/log.ts';
import type { Family } from '../model/state.ts';
import { parseConntrackLine } from './conntrack-text.ts';
import type { StaleFlows, TrackedFlow } from './stale-flows.ts';

export type FlowCleaner = {
  /** Returns the number of deleted flows. Never rejects: stale flows expire, only later. */
  readonly deleteStale: (family: Family, stale: StaleFlows) => Promise<number>;
  readonly close: () => Promise<void>;
};

const run = promisify(execFile);
/** A table of a million flows is about 150 MB of text; longer output is an error. */
const maxTextBytes = 256 * 1024 * 1024;

export function createFlowCleaner(log: Log): FlowCleaner {
  let opened: Promise<Conntrack> | undefined;
  let hasWarned = false;
  const warnOnce = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    log.warn('Failed to delete stale UDP flows, they expire later', {
      error: String(error),
      remedy: 'grant CAP_NET_ADMIN, and load nf_conntrack_netlink or install conntrack',
    });
  };
  return {
    async deleteStale(family, stale) {
      if (stale.isEmpty) return 0;
      try {
        // On a thread of its own, because a large table takes long to list.
        opened ??= openConntrack({ thread: 'own' });
        return await deleteOverNetlink(await opened, family, stale);
      } catch (error) {
        log.debug('Failed to use conntrack over netlink, trying the conntrack program', {
          error: String(error),
        });
      }
      try {
        return await deleteByProgram(family, stale);
      } catch (error) {
        warnOnce(error);
        return 0;
      }
    },
    async close() {
      // Why it could not be opened was logged when it was used.
      const conntrack = await opened?.catch(() => undefined);
      await conntrack?.close();
    },
  };
}

async function deleteOverNetlink(
  conntrack: Conntrack,
  family: Family,
  stale: StaleFlows,
): Promise<number> {
  const flows = await conntrack.listFlows({ family, protocol: 'UDP' });
  let count = 0;
  for (const flow of flows) {
    if (stale.isStale(flow) && (await conntrack.deleteFlow(flow))) count += 1;
  }
  return count;
}

async function deleteByProgram(family: Family, stale: StaleFlows): Promise<number> {
  const common = ['-p', 'udp', '-f', family === 'IPv4' ? 'ipv4' : 'ipv6'];
  const { stdout } = await run('conntrack', ['-L', ...common], { maxBuffer: maxTextBytes });
  const flows = stdout.split('\n').flatMap((line) => parseConntrackLine(line) ?? []);
  const staleFlows = flows.filter((flow) => stale.isStale(flow));
  for (const flow of staleFlows) await run('conntrack', ['-D', ...common, ...selectorOf(flow)]);
  return staleFlows.length;
}

function selectorOf({ original, reply }: TrackedFlow): readonly string[] {
  return [
    ...['-d', original.destination, '--dport', String(original.destinationPort)],
    ...['-r', reply.source, '--reply-port-src', String(reply.sourcePort)],
  ];
}
