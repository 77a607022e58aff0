// Writers that are charged to the same quotas take turns: concurrently, all but one would have to begin again.
import type { Resource } from '../cache/resources.ts';
import type { ApiContext } from '../context.ts';
import { withWriteLock } from '../objects/write-lock.ts';

export function withQuotaLock<T>(
  { quotas, store }: Pick<ApiContext, 'quotas' | 'store'>,
  { definition }: Resource,
  namespace: string,
  write: () => Promise<T>,
): Promise<T> {
  return quotas.concern(namespace, definition)
    ? withWriteLock(store, `quotas of ${namespace}`, write)
    : write();
}
