// Makes what must exist from the start, and makes it again when somebody deletes it.
import { isAlreadyExists, isNotFound } from '../meta/api-error.ts';
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
  namespaceObjects,
  readyCondition,
  serviceCidrObject,
} from './bootstrap-objects.ts';
import type { ApiContext, WriteRequest } from './context.ts';
import { typed } from './decode-body.ts';
import { createObject } from './objects/create-object.ts';
import { updateObject } from './objects/update-object.ts';

const self = { name: 'system:apiserver', groups: ['system:masters'] };

export type Bootstrap = {
  /** Puts back what was deleted of the Service that leads to this server. */
  readonly repair: () => Promise<void>;
};

export async function bootstrap(
  context: ApiContext,
  facts: BootstrapFacts,
  policy: readonly BootstrapObject[],
): Promise<Bootstrap> {
  await ensureAll(context, namespaceObjects());
  await Promise.all([
    ensureServiceCidr(context, facts),
    ...policy.map((object) => ensurePolicy(context, object)),
  ]);
  const repair = async (): Promise<void> => {
    await ensureAll(context, [apiServiceObject(facts)]);
    await Promise.all(apiEndpointObjects(facts).map((object) => ensureCurrent(context, object)));
  };
  await repair();
  return { repair };
}

function writeRequest(context: ApiContext): WriteRequest {
  return {
    user: self,
    dryRun: false,
    manager: 'kube-apiserver',
    now: formatTime(context.now()),
    warn: () => {},
  };
}

async function ensureAll(context: ApiContext, objects: readonly BootstrapObject[]): Promise<void> {
  await Promise.all(objects.map((object) => ensure(context, object)));
}

const nameOf = ({ body }: BootstrapObject): string => body.metadata.name;

async function ensure(context: ApiContext, wanted: BootstrapObject): Promise<void> {
  const { reader } = context.resources;
  if (reader.get(wanted.resource, wanted.namespace, nameOf(wanted)) !== undefined) return;
  const resource = context.resources.of(wanted.resource);
  try {
    await createObject(context, {
      resource,
      namespace: wanted.namespace,
      object: decoded(context, wanted),
      write: writeRequest(context),
    });
  } catch (error) {
    // Another API server on the same store was faster.
    if (!isAlreadyExists(error)) throw error;
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
  try {
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
      write: writeRequest(context),
    });
  } catch (error) {
    // Another API server on the same store was faster.
    if (!isAlreadyExists(error)) throw error;
  }
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
    write: writeRequest(context),
  });
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
      write: writeRequest(context),
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
