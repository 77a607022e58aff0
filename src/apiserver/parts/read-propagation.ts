// `propagations/SERVICE`: which proxies and DNS servers have which changes of a Service in effect, at this moment.
import { type PartKind, parsePartName } from '../../kinds/part/names.ts';
import { type Position, positionQuestion } from '../../kinds/part/position.ts';
import {
  type PartPropagation,
  type Propagation,
  propagationResource,
  propagationSchema,
} from '../../kinds/part/propagation.ts';
import type { PartAnswer } from '../../kinds/part/question.ts';
import { hasClusterIP } from '../../kinds/service/backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { notFound } from '../../meta/api-error.ts';
import { groupVersion } from '../../meta/object.ts';
import { serviceProxyNameLabel } from '../../meta/well-known-labels.ts';
import type { VirtualKind } from '../discovery/served-kind.ts';
import type { ApiResponse } from '../message.ts';
import { collectAnswers } from './collect-answers.ts';
import { nodesWithoutProxy } from './nodes-without-proxy.ts';
import { answerWith, type PartCall, timeoutOf } from './part-call.ts';
import { type ServiceHistory, serviceHistory } from './service-history.ts';

export const propagationKind: VirtualKind = {
  ...propagationResource,
  schema: propagationSchema,
  verbs: ['get'],
};

const defaultTimeoutMs = 2000;

export async function readPropagation(call: PartCall): Promise<ApiResponse> {
  const { context, request, info } = call;
  const { namespace, name } = info;
  const { resources } = context;
  const service = resources.reader.get('services', namespace, name) as Service | undefined;
  if (service === undefined) throw notFound({ group: '', resource: 'services' }, name);
  const history = serviceHistory(resources, { namespace, name });
  const kind = { ...positionQuestion, parts: concernedBy(service) };
  const reach = { channel: context.partsChannel, peers: context.peers };
  const answers = await collectAnswers(reach, kind, history.now, {
    timeoutMs: timeoutOf(request, defaultTimeoutMs),
    signal: request.signal(),
  });
  const concerned = answers.filter(({ part }) =>
    kind.parts.some((one) => one === parsePartName(part)?.kind),
  );
  const { group, version, kind: objectKind } = propagationResource;
  const propagation: Propagation = {
    kind: objectKind,
    apiVersion: groupVersion(group, version),
    metadata: { name, namespace },
    status: {
      revision: String(Math.max(history.now.services, history.now.slices)),
      parts: concerned
        .map((answer) => describePart(answer, history, context.now()))
        .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
      nodesWithoutProxy: kind.parts.includes('proxy') ? nodesWithoutProxy(context, answers) : [],
      time: new Date(context.now()).toISOString(),
    },
  };
  return answerWith(call, propagationKind, 200, propagation);
}

/** Proxies have nothing to do for a Service without a cluster IP, and leave those alone that name another proxy. */
function concernedBy(service: Service): readonly PartKind[] {
  const isOfProxies =
    hasClusterIP(service) && service.metadata.labels?.[serviceProxyNameLabel] === undefined;
  return isOfProxies ? ['dns', 'proxy'] : ['dns'];
}

const nameOf = ({ kind, node }: PartPropagation): string => `${kind} ${node}`;

function describePart(
  { part, value, error }: PartAnswer,
  history: ServiceHistory,
  now: number,
): PartPropagation {
  const { kind, node } = parsePartName(part) ?? { kind: '', node: part };
  const position = positionQuestion.readAnswer(value);
  if (position === undefined)
    return { kind, node, state: 'NoAnswer', reason: error ?? 'the answer is not understood' };
  const { mode, ageMs } = position;
  const known = { kind, node, ...(mode === undefined ? {} : { mode }) };
  if (ageMs === undefined) return { ...known, ...describeLag(position, history) };
  return {
    ...known,
    state: 'Current',
    revision: String(Math.max(history.now.services, history.now.slices)),
    // By the clock of this server: those of nodes may differ.
    since: new Date(now - ageMs).toISOString(),
    ...(position.isOlder === true ? { sinceBefore: true } : {}),
  };
}

type Lag = Omit<PartPropagation, 'kind' | 'node'>;

function describeLag({ applied, waitingMs }: Position, history: ServiceHistory): Lag {
  const served = history.at(applied);
  return {
    state: 'Behind',
    ...(served?.revision === undefined ? {} : { revision: String(served.revision) }),
    ...(served === undefined ? {} : { behindRevisions: served.missing }),
    ...(waitingMs === undefined ? {} : { behindMilliseconds: waitingMs }),
  };
}
