// Reads from an API server of Fairlead how far the changes of a Service have come. The server asks its parts; nothing is stored.
import { type ApiCaller, callApi } from '../client/api-call.ts';
import { isPartsGroupServed } from '../client/parts/parts-group.ts';
import { partsGroup, partsVersion } from '../kinds/part/names.ts';
import {
  type PartPropagation,
  type PropagationStatus,
  propagationResource,
  type Propagation as ServerAnswer,
} from '../kinds/part/propagation.ts';
import { isApiError, isForbidden, isNotFound } from '../meta/api-error.ts';
import type { PartState, Propagation } from './propagation.ts';
import { stateOf } from './state-of.ts';

export type ServiceName = { readonly namespace: string; readonly name: string };

/** The server knows no parts. The message is a sentence for people. */
export class PropagationUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super(
      'This API server does not know what its proxies serve: only servers of Fairlead do',
      options,
    );
    this.name = 'PropagationUnavailable';
  }
}

/** The server waits so long for parts that do not answer. */
const partTimeoutSeconds = 2;
/** A server that does not answer after that is lost. */
const maxAnswerMs = 15_000;
const groupPath = `/apis/${partsGroup}/${partsVersion}`;

export async function readPropagation(
  caller: ApiCaller,
  { namespace, name }: ServiceName,
  signal: AbortSignal,
): Promise<Propagation> {
  const inNamespace = `${groupPath}/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${inNamespace}/${propagationResource.plural}/${encodeURIComponent(name)}?timeoutSeconds=${partTimeoutSeconds}`;
  const until = AbortSignal.any([signal, AbortSignal.timeout(maxAnswerMs)]);
  try {
    const answer = (await callApi(caller, { method: 'GET', path, signal: until })) as ServerAnswer;
    return reportOf({ namespace, name }, answer.status);
  } catch (error) {
    if (await isOfAnother(caller, error, until)) throw new PropagationUnavailable({ cause: error });
    throw error;
  }
}

/** Another server has no such resource, or refuses what it does not know. Its discovery says which. */
async function isOfAnother(
  caller: ApiCaller,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isApiError(error) || isServiceMissing(error)) return false;
  if (isNotFound(error)) return true;
  return isForbidden(error) && !(await isPartsGroupServed(caller, signal));
}

/** Its message names the Service. */
export const isServiceMissing = (error: unknown): boolean =>
  isApiError(error) && isNotFound(error) && /" not found$/.test(error.message);

function reportOf(
  { namespace, name }: ServiceName,
  status: PropagationStatus | undefined,
): Propagation {
  const parts = (status?.parts ?? []).map(partOf);
  const nodesWithoutProxy = status?.nodesWithoutProxy ?? [];
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'Propagation', namespace, service: name },
    time: status?.time ?? '',
    revision: status?.revision ?? '',
    state: stateOf({ parts, nodesWithoutProxy }),
    ...{ parts, nodesWithoutProxy },
  };
}

const states = { Current: 'current', Behind: 'behind', NoAnswer: 'no-answer' } as const;

function partOf({ state, ...rest }: PartPropagation): PartState {
  return { ...rest, state: states[state] } as PartState;
}
