// Config maps as the simplest objects to write, in a namespace of each test's own.
import type { KubeObject } from '../../../src/meta/object.ts';
import type { ApiClient, WatchEvent } from './api-client.ts';

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

let spaces = 0;

/** The path of a collection that no other test uses. */
export async function newCollection(api: ApiClient): Promise<string> {
  spaces += 1;
  const name = `space-${spaces}`;
  await api.post('/api/v1/namespaces', { metadata: { name } });
  return `/api/v1/namespaces/${name}/configmaps`;
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): unknown {
  return { metadata: { name, labels }, data };
}

/** `ADDED name` for each event. */
export const brief = (events: readonly WatchEvent[]): readonly string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}`);

/** Near the largest that is allowed, so that few make much. */
export const largeData = { large: 'x'.repeat(900_000) };
