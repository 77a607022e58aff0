// `traffics`: connections and bytes of Services, measured by the proxies of all nodes for this request. With the name of a Service, of it
// alone. Both answer with a list that has an item for each node.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { formatPartName, parsePartName } from '../../kinds/part/names.ts';
import type { PartAnswer } from '../../kinds/part/question.ts';
import {
  maxIntervalMs,
  maxRowsOfPart,
  minIntervalMs,
  type NodeTraffic,
  type TrafficRequest,
  trafficQuestion,
  trafficResource,
} from '../../kinds/part/traffic.ts';
import { type TrafficItem, trafficSchema } from '../../kinds/part/traffic-list.ts';
import { badRequest, notFound } from '../../meta/api-error.ts';
import { groupVersion } from '../../meta/object.ts';
import type { VirtualKind } from '../discovery/served-kind.ts';
import { tooManyMeasurements, tooManyQuestions } from '../limits/too-many-requests.ts';
import type { ApiResponse } from '../message.ts';
import { collectAnswers } from './collect-answers.ts';
import { nodesWithoutProxy } from './nodes-without-proxy.ts';
import type { PartCall } from './part-call.ts';

export const trafficKind: VirtualKind = {
  ...trafficResource,
  schema: trafficSchema,
  verbs: ['get', 'list'],
};

const defaultIntervalMs = 2000;
/** For a measurement that runs already, and for the listings of large tables. */
const timeoutMs = maxIntervalMs + 5000;
/**
 * Rows of an answer, of all nodes together: about 7 MB of JSON for everything, and a quarter of that for one Service, of which there can
 * be more questions at a time.
 */
const maxRows = { all: 20_000, one: 5000 } as const;
/** In the largest clusters, too, the busiest rows of a node are seen. */
const minRowsOfPart = 20;
/** Rows of all questions that are open: a hundred megabytes at the very worst. */
export const maxOpenRows = 200_000;

export async function listTraffic(call: PartCall): Promise<ApiResponse> {
  const { held } = call.context.partsChannel;
  const { name } = call.user;
  if (!held.hasRoom(name)) throw tooManyQuestions(held.limit);
  const end = held.add(name);
  try {
    return await answerList(call);
  } finally {
    end();
  }
}

async function answerList(call: PartCall): Promise<ApiResponse> {
  const { context, request, user } = call;
  const wanted = requestOf(call);
  const weight = wanted.name === undefined ? maxRows.all : maxRows.one;
  const answer = context.trafficQuestions.join({
    key: JSON.stringify(wanted),
    user: user.name,
    weight,
    signal: request.signal(),
    start: (signal) => measure(call, wanted, signal),
  });
  if (answer === undefined) throw tooManyMeasurements();
  return { status: 200, headers: { 'content-type': 'application/json' }, body: await answer };
}

function requestOf({ context, info, request }: PartCall): TrafficRequest {
  const { reader } = context.resources;
  const { namespace, name } = info;
  const hasName = info.pathName !== '';
  if (hasName && reader.get('services', namespace, name) === undefined)
    throw notFound({ group: '', resource: 'services' }, name);
  const nodes = Math.max(1, reader.list('nodes').length);
  const perNode = Math.floor((hasName ? maxRows.one : maxRows.all) / nodes);
  return {
    ...(info.inNamespace ? { namespace } : {}),
    ...(hasName ? { name } : {}),
    intervalMs: intervalOf(request.query.get('intervalMilliseconds')),
    maxRows: Math.min(Math.max(perNode, minRowsOfPart), maxRowsOfPart),
  };
}

function intervalOf(text: string | null): number {
  if (text === null || text === '') return defaultIntervalMs;
  const isNumber = text.length <= 8 && /^[0-9]+$/.test(text);
  const intervalMs = Number(text);
  if (isNumber && intervalMs >= minIntervalMs && intervalMs <= maxIntervalMs) return intervalMs;
  throw badRequest(
    `intervalMilliseconds: must be a number from ${minIntervalMs} to ${maxIntervalMs}`,
  );
}

/** Encoded once for all who wait for it. */
async function measure(
  { context }: PartCall,
  wanted: TrafficRequest,
  signal: AbortSignal,
): Promise<Buffer> {
  const reach = { channel: context.partsChannel, peers: context.peers };
  const answers = await collectAnswers(reach, trafficQuestion, wanted, { timeoutMs, signal });
  const uncovered = nodesWithoutProxy(context, answers).map((node): PartAnswer => {
    return { part: formatPartName({ kind: 'proxy', node }), error: 'no proxy is connected' };
  });
  const pieces: Buffer[] = [];
  for (const answer of onePerNode([...answers, ...uncovered])) {
    const item = itemOf(answer, wanted);
    if (item !== undefined) pieces.push(Buffer.from(JSON.stringify(item)), comma);
    await yieldWhenDue();
  }
  return Buffer.concat([head, ...pieces.slice(0, -1), Buffer.from(']}')]);
}

const { group, version, kind } = trafficResource;
const apiVersion = groupVersion(group, version);
const comma = Buffer.from(',');
const head = Buffer.from(
  `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{},"items":[`,
);

/** While a proxy restarts there are two of one name, of which one may still have an answer. In the order of names. */
function onePerNode(answers: readonly PartAnswer[]): readonly PartAnswer[] {
  const byPart = new Map<string, PartAnswer>();
  for (const answer of answers) {
    if (byPart.get(answer.part)?.value === undefined) byPart.set(answer.part, answer);
  }
  return [...byPart.values()].sort((a, b) => (a.part < b.part ? -1 : 1));
}

function itemOf(
  { part, value, error }: PartAnswer,
  wanted: TrafficRequest,
): TrafficItem | undefined {
  const name = parsePartName(part);
  if (name?.kind !== 'proxy') return undefined;
  // Answers were read when they came.
  const measured = value === undefined ? undefined : onlyWanted(value as NodeTraffic, wanted);
  return {
    ...{ kind, apiVersion },
    metadata: {
      name: name.node,
      ...(wanted.namespace === undefined ? {} : { namespace: wanted.namespace }),
    },
    status: measured === undefined ? { reason: error ?? 'no answer' } : { measured },
  };
}

/** A part cannot make a user see Services of other namespaces. */
function onlyWanted(measured: NodeTraffic, { namespace, name }: TrafficRequest): NodeTraffic {
  const ports = measured.ports.filter(
    (port) =>
      (namespace === undefined || port.namespace === namespace) &&
      (name === undefined || port.name === name),
  );
  return ports.length === measured.ports.length ? measured : { ...measured, ports };
}
