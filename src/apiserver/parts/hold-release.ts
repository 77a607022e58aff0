// `releases/POD`: answered when no proxy forwards to a terminating pod any more, which is when its node may send SIGTERM.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { PartAnswer } from '../../kinds/part/question.ts';
import {
  type Release,
  type ReleaseStatus,
  releaseResource,
  releaseSchema,
} from '../../kinds/part/release.ts';
import { unroutedQuestion } from '../../kinds/part/unrouted.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { notFound } from '../../meta/api-error.ts';
import { groupVersion } from '../../meta/object.ts';
import type { ApiContext } from '../context.ts';
import type { VirtualKind } from '../discovery/served-kind.ts';
import { tooManyQuestions } from '../limits/too-many-requests.ts';
import type { ApiResponse } from '../message.ts';
import { collectAnswers } from './collect-answers.ts';
import { nodesWithoutProxy } from './nodes-without-proxy.ts';
import { answerWith, type PartCall, timeoutOf } from './part-call.ts';
import { type TerminatingSlices, terminatingSlices } from './terminating-slices.ts';

export const releaseKind: VirtualKind = {
  ...releaseResource,
  schema: releaseSchema,
  verbs: ['get'],
};

const slicesResource = 'endpointslices.discovery.k8s.io';

const defaultTimeoutMs = 10_000;
/**
 * For the controller to write that the pod is terminating; longer than a proxy batches changes (1 s). A pod that is not shown as
 * terminating by then is not known to the controller, or there is no controller: what proxies have in effect now is all there is.
 */
const settleMs = 1500;
/** Of a pod that a Service selects: requests in flight are completed in this time. */
const drainMs = 1500;
/** For proxies of nodes that are not connected, as after a restart of the server. */
const patienceMs = 2000;

export async function holdRelease(call: PartCall): Promise<ApiResponse> {
  const { held } = call.context.partsChannel;
  const { name } = call.user;
  if (!held.hasRoom(name)) throw tooManyQuestions(held.limit);
  const end = held.add(name);
  try {
    return await answerRelease(call);
  } finally {
    end();
  }
}

async function answerRelease(call: PartCall): Promise<ApiResponse> {
  const { context, request, info } = call;
  const { namespace, name } = info;
  const { reader } = context.resources;
  const pod = reader.get('pods', namespace, name) as Pod | undefined;
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, name);
  const signal = request.signal();
  const timeoutMs = timeoutOf(request, defaultTimeoutMs);
  const status = await waitForProxies(context, pod, { timeoutMs, signal });
  const { group, version, kind } = releaseResource;
  return answerWith(call, releaseKind, 200, {
    ...{ kind, apiVersion: groupVersion(group, version), metadata: { name, namespace }, status },
  } as Release);
}

type Wait = { readonly timeoutMs: number; readonly signal: AbortSignal };

async function waitForProxies(
  context: ApiContext,
  pod: Pod,
  { timeoutMs, signal }: Wait,
): Promise<ReleaseStatus> {
  const startedAt = performance.now();
  const addresses = (pod.status.podIPs ?? []).map(({ ip }) => ip);
  if (addresses.length === 0) return { confirmed: true };
  const { isSelected, revision } = await waitForSlices(context, pod, {
    timeoutMs: Math.min(settleMs, timeoutMs),
    signal,
  });
  const spec = {
    slices: revision,
    // Pods of the host's network share its addresses: what the slices say has to be enough.
    addresses: pod.spec.hostNetwork === true ? [] : addresses,
    forMs: isSelected ? drainMs : 0,
  };
  const reach = { channel: context.partsChannel, peers: context.peers };
  const isEnough = (answers: readonly PartAnswer[]): boolean =>
    nodesWithoutProxy(context, answers).length === 0;
  const answers = await collectAnswers(reach, unroutedQuestion, spec, {
    ...{ signal, isEnough, patienceMs },
    timeoutMs: Math.max(0, timeoutMs - (performance.now() - startedAt)),
  });
  const waitingFor = answers.flatMap(({ part, value }) => (value === undefined ? [part] : []));
  return {
    confirmed: waitingFor.length === 0,
    waitingFor,
    nodesWithoutProxy: nodesWithoutProxy(context, answers),
  };
}

/** Resolves when the slices show that the pod is terminating, or with what they show at the end. */
async function waitForSlices(
  { resources }: ApiContext,
  pod: Pod,
  { timeoutMs, signal }: Wait,
): Promise<TerminatingSlices> {
  const { reader } = resources;
  const { namespace = '' } = pod.metadata;
  const now = (): TerminatingSlices =>
    terminatingSlices(
      pod,
      reader.list('services', namespace) as readonly Service[],
      reader.list(slicesResource, namespace) as readonly EndpointSlice[],
    );
  const first = now();
  if (first.isShown) return first;
  const { cache } = resources.of(slicesResource);
  return await new Promise((resolve) => {
    const end = (): void => {
      stopListening();
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve(now());
    };
    const timer = setTimeout(end, timeoutMs);
    const stopListening = cache.subscribe(({ current }) => {
      if (current.object.metadata.namespace === namespace && now().isShown) end();
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
