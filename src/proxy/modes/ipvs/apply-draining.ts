// Drains real servers: no new connections, and deleted when their last connection has ended (IVS-07).
import type { Cancel, Clock } from '../../../host/clock.ts';
import type { Ipvs, ListedDestination, VirtualServiceKey } from '../../../host/netlink/ipvs.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import type { Log } from '../../../observe/log.ts';
import { unlessMissing } from './apply-kernel.ts';
import { type Contents, serverText, serviceText } from './contents.ts';
import type { RealServer } from './item.ts';

const checkIntervalMs = 60_000;

export type Draining = {
  readonly add: (service: VirtualServiceKey, realServer: RealServer) => void;
  /** It is desired again. */
  readonly cancel: (service: VirtualServiceKey, realServer: RealServer) => void;
  readonly cancelService: (service: VirtualServiceKey) => void;
  /** Continues draining real servers of weight 0 that a previous process left. */
  readonly adopt: (found: Contents['servers'], wanted: Contents['servers']) => void;
  readonly stop: () => void;
};

export type DrainingOptions = {
  readonly ipvs: Pick<Ipvs, 'listDestinations' | 'deleteDestination'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs work that must not overlap with a sync. */
  readonly exclusive: (work: () => Promise<void>) => Promise<void>;
};

type DrainingService = { readonly service: VirtualServiceKey; readonly realServers: Set<string> };

export function startDraining({ ipvs, clock, log, exclusive }: DrainingOptions): Draining {
  const drainingServices = new Map<string, DrainingService>();
  let cancel: Cancel | undefined;

  function checkLater(): void {
    if (drainingServices.size > 0) cancel ??= clock.after(checkIntervalMs, check);
  }

  function check(): void {
    const work = async (): Promise<void> => {
      for (const [key, one] of [...drainingServices]) {
        await deleteIdle(ipvs, one);
        if (one.realServers.size === 0) drainingServices.delete(key);
      }
    };
    exclusive(work)
      .catch((error: unknown) =>
        log.warn('Failed to delete drained real servers, retrying', { error: String(error) }),
      )
      .finally(() => {
        cancel = undefined;
        checkLater();
      });
  }

  function add(service: VirtualServiceKey, realServer: RealServer): void {
    const key = serviceText(service);
    const found = drainingServices.get(key) ?? { service, realServers: new Set() };
    found.realServers.add(serverText(realServer));
    drainingServices.set(key, found);
    checkLater();
  }

  return {
    add,
    cancel: (service, realServer) =>
      void drainingServices.get(serviceText(service))?.realServers.delete(serverText(realServer)),
    cancelService: (service) => void drainingServices.delete(serviceText(service)),
    adopt(found, wanted) {
      for (const [key, { service, realServers }] of found) {
        const still = wanted.get(key)?.realServers;
        if (still === undefined || service.protocol !== 'TCP') continue;
        for (const [text, realServer] of realServers) {
          if (realServer.weight === 0 && !still.has(text)) add(service, realServer);
        }
      }
    },
    stop: () => cancel?.(),
  };
}

async function deleteIdle(
  ipvs: DrainingOptions['ipvs'],
  { service, realServers }: DrainingService,
): Promise<void> {
  const listed = await listOrNone(ipvs, service);
  const there = new Set(listed.map(serverText));
  for (const text of realServers) if (!there.has(text)) realServers.delete(text);
  for (const one of listed) {
    if (!realServers.has(serverText(one)) || !isIdle(one)) continue;
    await unlessMissing(ipvs.deleteDestination(service, one));
    realServers.delete(serverText(one));
  }
}

function isIdle({ weight, activeConnections, inactiveConnections }: ListedDestination): boolean {
  return weight === 0 && activeConnections + inactiveConnections === 0;
}

async function listOrNone(
  ipvs: DrainingOptions['ipvs'],
  service: VirtualServiceKey,
): Promise<readonly ListedDestination[]> {
  try {
    return await ipvs.listDestinations(service);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return [];
    throw error;
  }
}
