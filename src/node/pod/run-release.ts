// Waits until no proxy forwards to a terminating pod, which is when it may get SIGTERM: docs/decisions/0015-holding-sigterm-back.md.
import { type ApiCaller, callApi } from '../../client/api-call.ts';
import { isPartsGroupServed } from '../../client/parts/parts-group.ts';
import { queryText, resourcePath } from '../../client/resource.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import { type Release, releaseResource } from '../../kinds/part/release.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';

export type ReleaseOptions = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
};

/** Resolves early when the signal aborts. Never rejects. */
export type WaitForRelease = (pod: Pod, signal: AbortSignal) => Promise<void>;

/** A proxy that does not respond must not block the termination of a pod. */
const maxWaitMs = 10_000;
/** Where nothing is known of the proxies: longer than they batch changes (1 s). */
const blindWaitMs = 2000;
/** Between two checks whether the API server knows its proxies. */
const recheckMs = 600_000;

export function createReleases({ caller, clock, log }: ReleaseOptions): WaitForRelease {
  let isServed = false;
  let checkAt = Number.NEGATIVE_INFINITY;
  const knowsProxies = async (signal: AbortSignal): Promise<boolean> => {
    if (isServed || clock.now() < checkAt) return isServed;
    isServed = await isPartsGroupServed(caller, signal);
    checkAt = clock.now() + recheckMs;
    if (!isServed) log.debug('API server knows no proxies, delaying SIGTERM by a fixed time');
    return isServed;
  };
  const request = async (pod: Pod, signal: AbortSignal): Promise<'confirmed' | 'unknown'> => {
    if (!(await knowsProxies(signal))) return 'unknown';
    const { status } = (await callApi(caller, {
      ...{ method: 'GET', path: pathOf(pod), signal },
    })) as Release;
    const { confirmed, waitingFor = [], nodesWithoutProxy = [] } = status;
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    if (!confirmed) log.debug('Proxies may still forward to pod', { pod: name, waitingFor });
    if (nodesWithoutProxy.length > 0)
      log.debug('Rules of nodes are unknown', { pod: name, nodes: nodesWithoutProxy });
    return 'confirmed';
  };
  return async (pod, signal) => {
    const startedAt = clock.now();
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    try {
      const timeout = sleep(clock, maxWaitMs, until).then(() => 'timeout' as const);
      const outcome = await Promise.race([request(pod, until), timeout]);
      if (outcome !== 'unknown') return;
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return;
      // A server that takes no more questions, or is gone for the moment.
      log.debug('Failed to find out what proxies do', { error: String(error) });
    } finally {
      ended.abort();
    }
    await sleep(clock, blindWaitMs - (clock.now() - startedAt), signal);
  };
}

function pathOf({ metadata: { namespace = '', name = '' } }: Pod): string {
  const query = queryText({ timeoutSeconds: maxWaitMs / 1000 });
  return resourcePath(releaseResource, { namespace, name }) + query;
}
