// How far the newest change has come, where the parts of the cluster answer questions: one request, because a part that has everything up
// to the newest revision has all that came before.
import type { ApiCaller } from '../client/api-call.ts';
import { resourceClient } from '../client/rest.ts';
import { type Clock, sleep } from '../host/clock.ts';
import { type Propagation, propagationResource } from '../kinds/part/propagation.ts';
import type { Service } from '../kinds/service/types.ts';
import { isApiError } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

export type PropagationRequest = {
  readonly caller: ApiCaller;
  readonly index: SnapshotIndex;
  readonly services: readonly Service[];
  readonly clock: Clock;
};

/** A change takes a moment everywhere: a part is late when it is so several times. */
const attempts = 3;
const pauseMs = 1500;

/** Undefined where the server has no such resource, or the user no right to it: other servers than Fairlead's never have it. */
export async function readNewestPropagation(
  { caller, index, services, clock }: PropagationRequest,
  signal: AbortSignal,
): Promise<Propagation | undefined> {
  const newest = newestOf(services, index);
  if (newest === undefined) return undefined;
  const { namespace = '', name = '' } = newest.metadata;
  const client = resourceClient<Propagation>(caller, propagationResource);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await client.get({ namespace, name }, { signal });
      const isLate = found.status?.parts?.some(({ state }) => state !== 'Current') === true;
      if (!isLate || attempt === attempts) return found;
    } catch (error) {
      if (isApiError(error)) return undefined;
      throw error;
    }
    await sleep(clock, pauseMs, signal);
  }
}

/** By the version of the Service and its slices. Versions of other servers need not be numbers. */
function newestOf(services: readonly Service[], index: SnapshotIndex): Service | undefined {
  const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? '');
  let best: { readonly service: Service; readonly version: number } | undefined;
  for (const service of services) {
    if (service.spec.type === 'ExternalName') continue;
    const { namespace = '', name = '' } = service.metadata;
    const all = [service, ...index.slicesOf(namespace, name)].map(versionOf);
    const version = Math.max(...all.filter((one) => !Number.isNaN(one)), 0);
    if (best === undefined || version > best.version) best = { service, version };
  }
  return best?.service;
}
