// A request to a resource, as every verb gets it.
import type { KindDefinition, SubresourceDefinition, UpdateRules } from '../../kinds/definition.ts';
import { notFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import { forbiddenAccess } from '../access/forbidden.ts';
import type { User } from '../access/user.ts';
import type { AdmissionSteps, WriteAdmission } from '../admission/admission.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import type { Pace } from '../limits/pace.ts';
import type { ApiResponse, RawUrl, VerbRequest } from '../message.ts';
import { header } from '../message.ts';
import type { CreateOnUpdate } from '../objects/update-object.ts';
import { managerFromUserAgent } from '../patch/manager.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import type { WriteOptions } from '../request/write-options.ts';

export type Call = {
  readonly context: ApiContext;
  readonly request: VerbRequest;
  /** For proxies. */
  readonly rawUrl: RawUrl;
  readonly info: ResourceRequest;
  readonly resource: Resource;
  /** The requested subresource; absent for the object itself. */
  readonly subresource?: SubresourceDefinition<KubeObject>;
  readonly user: User;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
  /** Adds an annotation to the audit event. */
  readonly annotate: (key: string, value: string) => void;
};

export type VerbHandler = (call: Call) => Promise<ApiResponse> | ApiResponse;

export function writeRequest(call: Call, options: WriteOptions): WriteRequest {
  const { context, request, user, warn, pace } = call;
  return {
    user,
    dryRun: options.dryRun,
    manager: options.fieldManager || managerFromUserAgent(header(request, 'user-agent') ?? ''),
    now: formatTime(context.now()),
    admission: admissionOf(call, options),
    warn,
    pace,
  };
}

/** Creating needs the right to create, whichever verb does it. */
export function createOnUpdate(call: Call): CreateOnUpdate {
  return { authorize: () => authorizeVerb(call, 'create') };
}

/** For requests that do more than their verb says. Throws 403. */
export function authorizeVerb(call: Call, verb: string): void {
  const { context, info, user } = call;
  if (info.verb === verb) return;
  // By its path a Namespace is inside itself, but not before it exists.
  const wanted = { ...info, verb, namespace: namespaceOf(call) };
  const { allowed, reason } = context.authorizer.authorize(user, wanted);
  if (!allowed) throw forbiddenAccess(user, wanted, reason);
}

/** Admission of the writes of the request. */
export function admissionOf(call: Call, { dryRun }: Pick<WriteOptions, 'dryRun'>): AdmissionSteps {
  const { context, user, resource, info, warn, annotate } = call;
  const { admission } = context;
  // Field by field, without a spread: every write passes here three times.
  const attributes = (before: KubeObject | undefined, after: KubeObject): WriteAdmission => ({
    user,
    operation: before === undefined ? 'create' : 'update',
    definition: resource.definition,
    subresource: info.subresource,
    namespace: namespaceOf(call),
    name: info.name || (after.metadata.name ?? ''),
    pathName: info.pathName,
    before,
    after,
    dryRun,
    warn,
    annotate,
  });
  return {
    enforcesQuotas: admission.enforcesQuotas,
    ready: (after) => admission.ready(attributes(undefined, after)),
    mutate: (before, after) => admission.mutate(attributes(before, after)),
    validate: (before, after) => admission.validate(attributes(before, after)),
  };
}

/** Admission of an object that is not stored itself, such as a Binding. */
export async function admitRequest<T extends KubeObject>(
  steps: AdmissionSteps,
  object: T,
): Promise<T> {
  const after = steps.mutate(undefined, object) as T;
  await steps.validate(undefined, after);
  return after;
}

/** Throws ApiError where admission refuses the delete. */
export function admitDelete(call: Call, target: DeleteTarget): void {
  const { context, user, resource, info, warn, annotate } = call;
  const { definition } = resource;
  const { subresource, pathName } = info;
  context.admission.admitDelete({
    ...{ user, definition, subresource, pathName, warn, annotate, operation: 'delete' },
    ...target,
  });
}

type DeleteTarget = {
  readonly name: string;
  readonly namespace: string;
  readonly dryRun: boolean;
};

/** Of the objects of the request: cluster-scoped kinds have none, whatever the path says. */
export function namespaceOf({ info, resource }: Call): string {
  return resource.definition.namespaced ? info.namespace : '';
}

export function keyPrefix(call: Call): string {
  const { codec } = call.resource;
  const namespace = namespaceOf(call);
  return namespace === '' ? codec.prefix : codec.key(namespace, '');
}

function targetOf(definition: KindDefinition): {
  readonly group: string;
  readonly resource: string;
} {
  return { group: definition.group, resource: definition.plural };
}

/** The object that the request names, as it is now. Throws 404. */
export function liveObject(call: Call): Cached {
  const { info, resource } = call;
  const { codec, cache, definition, view } = resource;
  const cached = cache.get(codec.key(namespaceOf(call), info.name));
  if (cached === undefined) throw notFound(targetOf(definition), info.name);
  return view(cached);
}

/** What an update of the object, or of the subresource, must obey. */
export function rulesOf({ resource, subresource }: Call): UpdateRules<KubeObject> {
  return subresource?.rules ?? resource.definition.update;
}
