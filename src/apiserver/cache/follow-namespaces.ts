// The objects of a resource by namespace, for plugins that ask at every write whether a namespace has any: most have none.
import type { Cached, ResourceCache } from './resource-cache.ts';

export type NamespaceIndex = (namespace: string) => readonly Cached[];

const none: readonly Cached[] = [];

/** In the order of their names. */
export function followNamespaces(
  cache: Pick<ResourceCache, 'listReadable' | 'subscribe'>,
): NamespaceIndex {
  const byNamespace = new Map<string, readonly Cached[]>();
  const put = (cached: Cached, isThere: boolean): void => {
    const namespace = namespaceOfKey(cached.key);
    const others = (byNamespace.get(namespace) ?? none).filter(({ key }) => key !== cached.key);
    const all = isThere ? [...others, cached].sort((a, b) => (a.key < b.key ? -1 : 1)) : others;
    if (all.length === 0) byNamespace.delete(namespace);
    else byNamespace.set(namespace, all);
  };
  const load = (): void => {
    byNamespace.clear();
    for (const cached of cache.listReadable('')) put(cached, true);
  };
  load();
  cache.subscribe(({ type, current }) => put(current, type !== 'DELETED'), load);
  return (namespace) => byNamespace.get(namespace) ?? none;
}

/** `/registry/limitranges/NAMESPACE/NAME` */
function namespaceOfKey(key: string): string {
  const end = key.lastIndexOf('/');
  return key.slice(key.lastIndexOf('/', end - 1) + 1, end);
}
