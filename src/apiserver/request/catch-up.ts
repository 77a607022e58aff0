// Which requests must see everything that any server acknowledged before them. All state that a request depends on is
// in memory (objects, roles, addresses and ports), so this one wait makes it current.
import type { Store } from '../../storage/store.ts';
import type { ApiRequest } from '../message.ts';
import type { RequestInfo } from './request-info.ts';

/** Undefined without other writers: memory is always current. */
export function createRequestCatchUp(
  store: Store,
): ((request: ApiRequest, info: RequestInfo) => Promise<void> | undefined) | undefined {
  const { catchUp } = store;
  if (catchUp === undefined) return undefined;
  return (request, info) => (needsCatchUp(request, info) ? catchUp() : undefined);
}

const reads: readonly string[] = ['get', 'list', 'watch'];

/** A read that names a version accepts that or a newer one, and waits itself where it is not reached yet. */
export function needsCatchUp({ query }: Pick<ApiRequest, 'query'>, info: RequestInfo): boolean {
  if (info.kind === 'path') return false;
  const namesVersion = (query.get('resourceVersion') ?? '') !== '';
  return !(namesVersion && reads.includes(info.verb));
}
