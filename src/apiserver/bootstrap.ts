// Makes what must exist from the start, and makes it again when somebody deletes it.
import { isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { decode } from '../schema/decode.ts';
import { formatTime } from '../schema/time.ts';
import { reconcilePolicy } from './access/reconcile-policy.ts';
import {
  apiEndpointObjects,
  apiServiceObject,
  type BootstrapFacts,
  type BootstrapObject,
  defaultServiceCidr,
  isApiSliceName,
  namespaceObjects,
  readyCondition,
  serviceCidrObject,
  sliceResource,
} from './bootstrap-objects.ts';
import type { ApiContext } from './context.ts';
import { typed } from './decode-body.ts';
import { type LiveServers, onlyServer } from './live-servers.ts';
import { createObject } from './objects/create-object.ts';
import { deleteObject } from './objects/delete-object.ts';
import { updateObject } from './objects/update-object.ts';
import { ownWrite } from './own-write.ts';

export type Bootstrap = {
  /** Puts back what was deleted of the Service that leads to this server. */
  readonly repair: () => Promise<void>;
};

export async function bootstrap(
  context: ApiContext,
  facts: BootstrapFacts,
  policy: readonly BootstrapObject[],
  servers: Pick<LiveServers, 'all'> = onlyServer(facts.advertise),
): Promise<Bootstrap> {
  await ensureAll(context, namespaceObjects());
  await Promise.all([
    ensureServiceCidr(context, facts),
    ...policy.map((object) => ensurePolicy(context, object)),
  ]);
  const repair = async (): Promise<void> => {
    await ensureAll(context, [apiServiceObject(facts)]);
    const wanted = apiEndpointObjects(await servers.all());
    await Promise.all(wanted.map((object) => ensureCurrent(context, object)));
    await removeOtherSlices(context, wanted);
  };
  await repair();
  return { repair };
}

async function ensureAll(context: ApiContext, objects: readonly BootstrapObject[]): Promise<void> {
  await Promise.all(objects.map((object) => ensure(context, object)));
}

const nameOf = ({ body }: BootstrapObject): string => body.metadata.name;

async function ensure(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const isThere = (): boolean =>
    context.resources.reader.get(wanted.resource, wanted.namespace, nameOf(wanted)) !== undefined;
  if (isThere()) return;
  const resource = context.resources.of(wanted.resource);
  try {
    await createObject(context, {
      resource,
      namespace: wanted.namespace,
      object: decoded(context, wanted),
      write: ownWrite(context),
    });
  } catch (error) {
    // Another API server on the same store was faster; of a Service that has its address, that is what is noticed first.
    if (!isThere()) throw error;
  }
}

/** Creates it, or puts back what a default role or binding has lost. */
async function ensurePolicy(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const { reader } = context.resources;
  const live = reader.get(wanted.resource, wanted.namespace, nameOf(wanted));
  if (live === undefined) return ensure(context, wanted);
  const object = decoded(context, wanted);
  if (reconcilePolicy(live, object) === live) return;
  const resource = context.resources.of(wanted.resource);
  await updateObject(context, {
    resource,
    namespace: wanted.namespace,
    name: nameOf(wanted),
    subresource: '',
    rules: resource.definition.update,
    desired: (current) => (current === undefined ? object : reconcilePolicy(current, object)),
    creates: true,
    needsVersion: false,
    checksUid: false,
    write: ownWrite(context),
  });
}

function decoded(context: ApiContext, { resource, body }: BootstrapObject): KubeObject {
  const { definition } = context.resources.of(resource);
  const { object, error, problems } = decode(definition.schema, body);
  if (error !== undefined || problems.unknown.length > 0) {
    throw new Error(`Cannot make "${body.metadata.name}": ${error ?? problems.unknown.join(', ')}`);
  }
  const whole = typed(object as KubeObject, definition);
  return definition.defaults?.(whole) ?? whole;
}

/** Creates it, or makes its content what it should be while labels and annotations of others stay. */
async function ensureCurrent(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const resource = context.resources.of(wanted.resource);
  const { definition } = resource;
  const object = decoded(context, wanted);
  await updateObject(context, {
    resource,
    namespace: wanted.namespace,
    name: nameOf(wanted),
    subresource: '',
    rules: definition.update,
    desired: (live) =>
      live === undefined ? object : { ...live, ...object, metadata: mergedMetadata(live, object) },
    creates: true,
    needsVersion: false,
    checksUid: false,
    write: ownWrite(context),
  });
}

/** Slices of ports or families that no server has any more. */
async function removeOtherSlices(
  context: ApiContext,
  wanted: readonly BootstrapObject[],
): Promise<void> {
  // Nobody can be led to: what is there is as good as anything.
  if (wanted.length === 0) return;
  const names = new Set(wanted.map(nameOf));
  const resource = context.resources.of(sliceResource);
  for (const { metadata } of context.resources.reader.list(sliceResource, 'default')) {
    const { name = '' } = metadata;
    if (!isApiSliceName(name) || names.has(name)) continue;
    const asked = { resource, namespace: 'default', name, options: {}, dryRun: false };
    try {
      await deleteObject(context, { ...asked, now: context.now() });
    } catch (error) {
      // Another API server on the same store was faster.
      if (!isNotFound(error)) throw error;
    }
  }
}

function mergedMetadata(live: KubeObject, wanted: KubeObject): KubeObject['metadata'] {
  return { ...live.metadata, labels: { ...live.metadata.labels, ...wanted.metadata.labels } };
}

async function ensureServiceCidr(context: ApiContext, facts: BootstrapFacts): Promise<void> {
  const wanted = serviceCidrObject(facts);
  await ensure(context, wanted);
  const resource = context.resources.of(wanted.resource);
  const rules = resource.definition.subresources?.find((s) => s.name === 'status')?.rules;
  if (rules === undefined)
    throw new Error('Cannot mark the default ServiceCIDR ready: it has no status');
  const now = formatTime(context.now());
  try {
    await updateObject(context, {
      resource,
      namespace: '',
      name: defaultServiceCidr,
      subresource: 'status',
      rules,
      desired: (live) => withReady(live as KubeObject & CidrStatus, now),
      creates: false,
      needsVersion: false,
      checksUid: false,
      write: ownWrite(context),
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

type CidrStatus = {
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, unknown>>[] };
};

function withReady(live: KubeObject & CidrStatus, now: string): KubeObject {
  const { conditions = [] } = live.status ?? {};
  if (conditions.some((c) => c.type === 'Ready')) return live;
  const status = { ...live.status, conditions: [...conditions, readyCondition(now)] };
  return { ...live, status } as KubeObject;
}
