// Creates the objects that exist from the start, and restores those that are deleted.
import { isNotFound } from '../../meta/api-error.ts';
import { reconcilePolicy } from '../access/reconcile-policy.ts';
import type { ApiContext } from '../context.ts';
import { deleteObject } from '../objects/delete-object.ts';
import { decodedObject, ensureObject } from '../objects/ensure-object.ts';
import { serverWrite } from '../objects/server-write.ts';
import { updateObject } from '../objects/update-object.ts';
import { createDefaultCidrReconciler } from './default-service-cidr.ts';
import {
  apiEndpointObjects,
  apiServiceObject,
  type BootstrapFacts,
  type BootstrapObject,
  isApiSliceName,
  namespaceObjects,
  priorityClassObjects,
  restoredLabels,
  sliceResource,
} from './objects.ts';
import { type ServerLeases, singleServer } from './server-leases.ts';

export type Bootstrap = {
  /** Restores the kubernetes Service, its endpoints and the default ServiceCIDR. */
  readonly repair: () => Promise<void>;
};

export async function bootstrap(
  context: ApiContext,
  facts: BootstrapFacts,
  policy: readonly BootstrapObject[],
  servers: Pick<ServerLeases, 'all'> = singleServer(facts.advertise),
): Promise<Bootstrap> {
  await ensureAll(context, [...namespaceObjects(), ...priorityClassObjects()]);
  const reconcileServiceCidr = createDefaultCidrReconciler(context, facts.serviceCidrs);
  await Promise.all([
    reconcileServiceCidr(),
    ...policy.map((object) => ensurePolicy(context, object)),
  ]);
  const repair = async (): Promise<void> => {
    await reconcileServiceCidr();
    await ensureAll(context, [apiServiceObject(facts)]);
    if (!facts.publishesEndpoints) return;
    const wanted = apiEndpointObjects(await servers.all());
    await Promise.all(wanted.map((object) => ensureCurrent(context, object)));
    await removeOtherSlices(context, wanted);
  };
  await repair();
  return { repair };
}

async function ensureAll(context: ApiContext, objects: readonly BootstrapObject[]): Promise<void> {
  await Promise.all(objects.map((object) => ensureObject(context, object)));
}

const nameOf = ({ body }: BootstrapObject): string => body.metadata.name;

/** Creates it, or restores what a default role or binding lacks. */
async function ensurePolicy(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const { reader } = context.resources;
  const live = reader.get(wanted.resource, wanted.namespace, nameOf(wanted));
  if (live === undefined) return ensureObject(context, wanted);
  const object = decodedObject(context, wanted);
  if (reconcilePolicy(live, object) === live) return;
  const resource = context.resources.of(wanted.resource);
  await updateObject(context, {
    resource,
    namespace: wanted.namespace,
    name: nameOf(wanted),
    subresource: '',
    rules: resource.definition.update,
    desired: (current) => (current === undefined ? object : reconcilePolicy(current, object)),
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

/** Creates it, or restores its content and labels; annotations stay. */
async function ensureCurrent(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const resource = context.resources.of(wanted.resource);
  const { definition } = resource;
  const object = decodedObject(context, wanted);
  await updateObject(context, {
    resource,
    namespace: wanted.namespace,
    name: nameOf(wanted),
    subresource: '',
    rules: definition.update,
    desired: (live) => {
      if (live === undefined) return object;
      const labels = restoredLabels(wanted, live.metadata.labels);
      return { ...live, ...object, metadata: { ...live.metadata, labels } };
    },
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

/** Deletes slices of ports or families that no server has any more. */
async function removeOtherSlices(
  context: ApiContext,
  wanted: readonly BootstrapObject[],
): Promise<void> {
  // Without a known server, the existing slices are as good as any.
  if (wanted.length === 0) return;
  const names = new Set(wanted.map(nameOf));
  const resource = context.resources.of(sliceResource);
  for (const { metadata } of context.resources.reader.list(sliceResource, 'default')) {
    const { name = '' } = metadata;
    if (!isApiSliceName(name) || names.has(name)) continue;
    const target = { resource, namespace: 'default', name, options: {}, dryRun: false };
    try {
      await deleteObject(context, { ...target, admit() {}, now: context.now() });
    } catch (error) {
      // Another API server on the same store was faster.
      if (!isNotFound(error)) throw error;
    }
  }
}
