// The Service, Endpoints and slices that lead to the API servers, and the default ServiceCIDR, come back when somebody deletes
// or changes them, and follow the servers that come and go.
import type { Log } from '../../observe/log.ts';
import type { ApiContext } from '../context.ts';
import type { ServerLeases } from './server-leases.ts';

export type ServiceReconcilerOptions = {
  readonly context: ApiContext;
  readonly servers: ServerLeases;
  readonly repair: () => Promise<void>;
  readonly log: Log;
};

/** Long enough that a delete and what follows it are seen by whoever made it. */
const repairDelayMs = 5000;

/** Returns how to end it, after which this server is no longer led to. */
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
      log.warn('cannot restore the kubernetes service', { error: String(error) });
      schedule();
    });
  };
  const schedule = (): void => {
    if (!isStopped) timer ??= setTimeout(attempt, repairDelayMs);
  };
  const stops = Object.entries(watched).map(([resource, where]) => {
    const { cache, codec } = context.resources.of(resource);
    const key = codec.key(where, 'kubernetes');
    return cache.listen(({ current, type }) => {
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
      // The key expires.
      log.warn('cannot sign off from the kubernetes service', { error: String(error) });
    }
  };
}
