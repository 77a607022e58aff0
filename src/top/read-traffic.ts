// Requests a measurement from an API server of Fairlead, which all proxies of the cluster answer.
import { type ApiCaller, callApi } from '../client/api-call.ts';
import { isPartsGroupServed } from '../client/parts/parts-group.ts';
import { queryText, resourcePath } from '../client/resource.ts';
import { trafficResource } from '../kinds/part/traffic.ts';
import { type MeasuredNode, readTrafficList } from '../kinds/part/traffic-list.ts';
import { isApiError, isForbidden, isNotFound } from '../meta/api-error.ts';

export type TrafficQuery = {
  /** Absent: all. */
  readonly namespace?: string;
  /** Absent: all Services. */
  readonly name?: string;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
};

/** The server cannot measure. The message is a sentence for people. */
export class TrafficUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TrafficUnavailable';
  }
}

const notFairlead =
  'Traffic is measured by the node proxies of Fairlead, for an API server of Fairlead: this server has no such resource';
const tooOld = 'This API server is of a release of Fairlead that cannot measure traffic';

/** Throws TrafficUnavailable, and ApiErrors such as those of missing rights. */
export async function readTraffic(
  caller: ApiCaller,
  { namespace, name, intervalMs, signal }: TrafficQuery,
): Promise<readonly MeasuredNode[]> {
  const scope = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
  const path = resourcePath(trafficResource, scope);
  const query = queryText({ intervalMilliseconds: intervalMs });
  try {
    const answer = await callApi(caller, { method: 'GET', path: `${path}${query}`, signal });
    const nodes = readTrafficList(answer);
    if (nodes === undefined)
      throw new TrafficUnavailable('The answer of the server is no list of traffic');
    return nodes;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new TrafficUnavailable('The answer of the server is no JSON', { cause: error });
    if (!isApiError(error) || !(isNotFound(error) || isForbidden(error))) throw error;
    // Rights come first: what does not exist is forbidden, too, for those who may not do everything.
    if (!(await isPartsGroupServed(caller, signal)))
      throw new TrafficUnavailable(notFairlead, { cause: error });
    // A Service that does not exist has a name.
    if (isForbidden(error) || error.status.details?.name) throw error;
    throw new TrafficUnavailable(tooOld, { cause: error });
  }
}
