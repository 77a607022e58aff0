// Deletes the content of a namespace, resource by resource, and reports what remains.
import type { ApiCaller } from '../../client/api-call.ts';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { type DeletionReport, type PodEnd, podGraceSeconds, type Remaining } from './desired.ts';

export type DeletionTask = {
  readonly caller: ApiCaller;
  readonly namespace: string;
  /** When the namespace was deleted. */
  readonly deletedMs: number;
  readonly now: number;
  readonly signal: AbortSignal;
};

/** Collections that are deleted concurrently. */
const concurrency = 8;

/** Pods first, because they may need the rest while they terminate (upstream: OrderedNamespaceDeletion). */
export async function deleteContent(task: DeletionTask): Promise<DeletionReport> {
  const found = await discoverContent(task);
  if ('discoveryError' in found) return { ...found, contentErrors: [], remaining: [] };
  const isPods = ({ group, plural }: DiscoveredResource): boolean =>
    group === '' && plural === 'pods';
  const pods = await deleteAll(task, found.resources.filter(isPods));
  if (pods.remaining.length > 0 || pods.contentErrors.length > 0) return pods;
  return deleteAll(
    task,
    found.resources.filter((resource) => !isPods(resource)),
  );
}

type Content =
  | { readonly resources: readonly DiscoveredResource[] }
  | { readonly discoveryError: string };

async function discoverContent({ caller, signal }: DeletionTask): Promise<Content> {
  try {
    const resources = await discover(caller, signal);
    const isContent = ({ namespaced, preferred, verbs }: DiscoveredResource): boolean =>
      namespaced && preferred && verbs.includes('list') && verbs.includes('delete');
    return { resources: resources.filter(isContent) };
  } catch (error) {
    if (signal.aborted) throw error;
    return {
      discoveryError: `Discovery failed for some groups, 1 failing: ${(error as Error).message}`,
    };
  }
}

async function deleteAll(
  task: DeletionTask,
  resources: readonly DiscoveredResource[],
): Promise<DeletionReport> {
  const contentErrors: string[] = [];
  const remaining: Remaining[] = [];
  const rest = resources.values();
  const worker = async (): Promise<void> => {
    for (const resource of rest) {
      try {
        const left = await deleteResource(task, resource);
        if (left !== undefined) remaining.push(left);
      } catch (error) {
        if (task.signal.aborted) throw error;
        contentErrors.push((error as Error).message);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, resources.length) }, worker));
  return { contentErrors, remaining };
}

async function deleteResource(
  task: DeletionTask,
  resource: DiscoveredResource,
): Promise<Remaining | undefined> {
  const { caller, namespace, deletedMs, now, signal } = task;
  const client = resourceClient(caller, resource);
  const isPods = resource.group === '' && resource.plural === 'pods';
  const wanted = { namespace, metadataOnly: !isPods, signal };
  const before = await client.list(wanted);
  if (before.items.length === 0) return undefined;
  const graceSeconds = isPods
    ? podGraceSeconds(before.items as readonly PodEnd[], deletedMs, now)
    : 0;
  if (resource.verbs.includes('deletecollection'))
    // Some kinds leave their dependents behind unless told otherwise.
    await client.deleteCollection({ namespace, propagationPolicy: 'Background', signal });
  else await deleteOneByOne(client, before.items, signal);
  const { items } = await client.list(wanted);
  if (items.length === 0) return undefined;
  const finalizers = countFinalizers(items);
  if (graceSeconds === 0 && Object.keys(finalizers).length === 0) {
    const name = `${resource.group}/${resource.version}, Resource=${resource.plural}`;
    throw new Error(`unexpected items still remain in namespace: ${namespace} for gvr: ${name}`);
  }
  return {
    resource: resource.plural,
    group: resource.group,
    count: items.length,
    finalizers,
    graceSeconds,
  };
}

async function deleteOneByOne(
  client: ResourceClient<KubeObject>,
  items: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of items) {
    const { name = '', namespace = '' } = metadata;
    try {
      await client.delete({ name, namespace }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function countFinalizers(items: readonly KubeObject[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { metadata } of items) {
    for (const name of metadata.finalizers ?? []) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
