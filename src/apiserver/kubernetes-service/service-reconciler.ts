// Restores the kubernetes Service, its Endpoints and slices, and the default ServiceCIDR when they are deleted or changed,
// and updates the endpoints when API servers start and stop.
import type { Log } from '../../observe/log.ts';
import type { ApiContext } from '../context.ts';
import type { ServerLeases } from './server-leases.ts';

export type ServiceReconcilerOptions = {
  readonly context: ApiContext;
  readonly servers: ServerLeases;
  readonly repair: () => Promise<void>;
  readonly log: Log;
};

/** Long enough for clients to observe a delete and its effects. */
const repairDelayMs = 5000;

/** Returns how to stop, which removes this server from the endpoints. */
export function startServiceReconciler({
  context,
  servers,
  repair,
  log,
}: ServiceReconcilerOptions): () => Promise<void> {
  const watched = {
    services: 'default',
    endpoints: 'default',
    'endpointslices.discovery.k8s.io': 'default',
    'servicecidrs.networking.k8s.io': '',
  };
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const attempt = (): void => {
    timer = undefined;
    repair().catch((error: unknown) => {
      log.warn('Failed to restore the kubernetes service, retrying', { error: String(error) });
      schedule();
    });
  };
  const schedule = (): void => {
    if (!isStopped) timer ??= setTimeout(attempt, repairDelayMs);
  };
  const stops = Object.entries(watched).map(([resource, where]) => {
    const { cache, codec } = context.resources.of(resource);
    const key = codec.key(where, 'kubernetes');
    return cache.subscribe(({ current, type }) => {
      if (current.key === key && type !== 'ADDED') schedule();
    });
  });
  servers.listen(() => {
    if (!isStopped) attempt();
  });
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    for (const stop of stops) stop();
    try {
      await servers.leave();
      if (!context.store.isSoleWriter) await repair();
    } catch (error) {
      // The lease expires.
      log.warn('Failed to remove server lease', { error: String(error) });
    }
  };
}
