// Makes the kernel forget flows that nobody serves any more: over netlink, or with the `conntrack` program.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Conntrack, openConntrack } from '../../host/netlink/conntrack.ts';
import type { Log } from '../../observe/log.ts';
import type { Family } from '../model/state.ts';
import { parseConntrackLine } from './conntrack-text.ts';
import type { StaleFlows, TrackedFlow } from './stale-flows.ts';

export type FlowCleaner = {
  /** Returns how many flows were forgotten. Never throws: stale flows end by themselves, only later. */
  readonly forget: (family: Family, stale: StaleFlows) => Promise<number>;
  readonly close: () => Promise<void>;
};

const run = promisify(execFile);
/** A table of a million flows is about 150 MB of text; past this the program's answer is given up. */
const maxTextBytes = 256 * 1024 * 1024;

export function createFlowCleaner(log: Log): FlowCleaner {
  let opened: Promise<Conntrack> | undefined;
  let hasWarned = false;
  const warnOnce = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    log.warn('stale UDP flows stay until they time out', {
      error: String(error),
      remedy: 'grant CAP_NET_ADMIN, and load nf_conntrack_netlink or install conntrack',
    });
  };
  return {
    async forget(family, stale) {
      if (stale.isEmpty) return 0;
      try {
        // A thread of its own: a large table takes long to read.
        opened ??= openConntrack({ thread: 'own' });
        return await forgetOver(await opened, family, stale);
      } catch (error) {
        log.debug('conntrack over netlink failed', { error: String(error) });
      }
      try {
        return await forgetByProgram(family, stale);
      } catch (error) {
        warnOnce(error);
        return 0;
      }
    },
    async close() {
      const conntrack = await opened?.catch(() => undefined);
      await conntrack?.close();
    },
  };
}

async function forgetOver(
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

async function forgetByProgram(family: Family, stale: StaleFlows): Promise<number> {
  const common = ['-p', 'udp', '-f', family === 'IPv4' ? 'ipv4' : 'ipv6'];
  const { stdout } = await run('conntrack', ['-L', ...common], { maxBuffer: maxTextBytes });
  const flows = stdout.split('\n').flatMap((line) => parseConntrackLine(line) ?? []);
  const gone = flows.filter((flow) => stale.isStale(flow));
  for (const flow of gone) await run('conntrack', ['-D', ...common, ...selectorOf(flow)]);
  return gone.length;
}

function selectorOf({ original, reply }: TrackedFlow): readonly string[] {
  return [
    ...['-d', original.destination, '--dport', String(original.destinationPort)],
    ...['-r', reply.source, '--reply-port-src', String(reply.sourcePort)],
  ];
}
