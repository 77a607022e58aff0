// The virtual servers of some service ports as the kernel has them, against what they want.
import type { ProxyState } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import { type Contents, contentsOf, type ServerContents } from './contents.ts';
import { desiredForPort } from './desired.ts';

/** Of the servers that are wanted; undefined: there are none. */
export type FoundServers = Contents['servers'];

/** Servers of other service ports are left alone, and so are endpoints that only finish what they have. */
export function driftOf(found: FoundServers, wanted: FoundServers): Drift {
  const missing: string[] = [];
  const stale: string[] = [];
  for (const [key, server] of wanted) {
    const there = found.get(key);
    if (there === undefined) missing.push(`virtual server ${key}`);
    const differs = (
      { realServers }: ServerContents,
      from: ServerContents | undefined,
    ): readonly string[] =>
      [...realServers]
        .filter(
          ([name, { weight }]) => weight > 0 && (from?.realServers.get(name)?.weight ?? 0) === 0,
        )
        .map(([name]) => `real server ${name} of virtual server ${key}`);
    missing.push(...differs(server, there));
    if (there !== undefined) stale.push(...differs(there, server));
  }
  return { missing, stale };
}

export function wantedServers({ ports, node }: ProxyState, scheduler: string): FoundServers {
  const items = [...ports.values()].flatMap((port) => desiredForPort(port, node, scheduler));
  return contentsOf(items).servers;
}
