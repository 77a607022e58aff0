// Which requests must see everything that any server acknowledged before them. Everything a request is decided by is
// in memory (objects, roles, addresses and ports), so this one wait before it makes all of that fresh.
import type { Store } from '../../storage/store.ts';
import type { ApiRequest } from '../message.ts';
import type { RequestInfo } from './request-info.ts';

/** Undefined where nobody else writes: memory shows everything always. */
export function createRequestCatchUp(
  store: Store,
): ((request: ApiRequest, info: RequestInfo) => Promise<void> | undefined) | undefined {
  const { catchUp } = store;
  if (catchUp === undefined) return undefined;
  return (request, info) => (seesEverything(request, info) ? catchUp() : undefined);
}

const reads: readonly string[] = ['get', 'list', 'watch'];

/** A read that names a version takes that or newer, and waits itself where that is yet to come. */
export function seesEverything({ query }: Pick<ApiRequest, 'query'>, info: RequestInfo): boolean {
  if (info.kind === 'path') return false;
  const namesVersion = (query.get('resourceVersion') ?? '') !== '';
  return !(namesVersion && reads.includes(info.verb));
}
