// Requests of the garbage collector: reads owners that the graph does not know, and writes what was decided.
import type { ApiCaller } from '../../client/api-call.ts';
import type { ObjectName, ResourceNames } from '../../client/resource.ts';
import { resourceClient } from '../../client/rest.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { groupVersion, type KubeObject, type OwnerReference } from '../../meta/object.ts';
import type { DependentDecision, OwnerState } from './desired.ts';
import { type GraphNode, waitsForDependents } from './graph.ts';

function nameOf({ metadata }: KubeObject): ObjectName {
  const { name = '', namespace } = metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** The object as the server has it; undefined when it is deleted or has another UID. */
export async function readLive(
  caller: ApiCaller,
  node: GraphNode,
): Promise<KubeObject | undefined> {
  const live = await read(caller, node.resource, nameOf(node.object));
  return live?.metadata.uid === node.uid ? live : undefined;
}

async function read(
  caller: ApiCaller,
  resource: ResourceNames,
  name: ObjectName,
): Promise<KubeObject | undefined> {
  try {
    return await resourceClient(caller, resource).get(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * `unknown` when the server has no such kind. A cluster-scoped object with a namespaced owner has an invalid
 * reference; it is not deleted.
 */
export async function readOwnerState(
  caller: ApiCaller,
  resources: readonly ResourceNames[],
  dependent: GraphNode,
  owner: OwnerReference,
): Promise<OwnerState | 'unknown'> {
  const resource = resources.find(
    ({ group, version, kind }) =>
      kind === owner.kind && groupVersion(group, version) === owner.apiVersion,
  );
  const { namespace } = dependent.object.metadata;
  if (resource === undefined) return 'unknown';
  if (resource.namespaced && namespace === undefined) return 'present';
  const found = await read(caller, resource, {
    name: owner.name,
    ...(resource.namespaced && namespace !== undefined ? { namespace } : {}),
  });
  if (found?.metadata.uid !== owner.uid) return 'absent';
  return waitsForDependents(found) ? 'waiting' : 'present';
}

/** Writes have the version as precondition: a concurrent change causes another attempt. */
export async function applyDecision(
  caller: ApiCaller,
  { resource }: GraphNode,
  live: KubeObject,
  decision: DependentDecision,
): Promise<void> {
  if (decision.action === 'none') return;
  const client = resourceClient(caller, resource);
  const name = nameOf(live);
  const { uid = '', resourceVersion = '' } = live.metadata;
  const write = async (): Promise<void> => {
    if (decision.ownerReferences !== undefined) {
      const { ownerReferences } = decision;
      await client.patch(
        name,
        { metadata: { uid, resourceVersion, ownerReferences } },
        { type: 'merge' },
      );
    }
    if (decision.action !== 'delete') return;
    const isChanged = decision.ownerReferences !== undefined;
    const preconditions = isChanged ? { uid } : { uid, resourceVersion };
    await client.delete(name, { propagationPolicy: decision.policy, preconditions });
  };
  await unlessGone(write);
}

/** Removes the reference to this owner from the dependent, which then lives on. */
export async function releaseFrom(
  caller: ApiCaller,
  dependent: GraphNode,
  ownerUid: string,
): Promise<void> {
  const live = await readLive(caller, dependent);
  const owners = live?.metadata.ownerReferences ?? [];
  const ownerReferences = owners.filter(({ uid }) => uid !== ownerUid);
  if (live === undefined || ownerReferences.length === owners.length) return;
  await applyDecision(caller, dependent, live, { action: 'release', ownerReferences });
}

export async function removeFinalizer(
  caller: ApiCaller,
  node: GraphNode,
  finalizer: string,
): Promise<void> {
  const live = await readLive(caller, node);
  if (!live?.metadata.finalizers?.includes(finalizer)) return;
  const { uid, resourceVersion, finalizers } = live.metadata;
  const patch = {
    metadata: { uid, resourceVersion, finalizers: finalizers.filter((name) => name !== finalizer) },
  };
  await unlessGone(async () => {
    await resourceClient(caller, node.resource).patch(nameOf(live), patch, { type: 'merge' });
  });
}

async function unlessGone(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
