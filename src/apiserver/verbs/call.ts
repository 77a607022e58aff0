// One request to one resource, as every verb gets it.
import type { KindDefinition, SubresourceDefinition } from '../../kinds/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import type { ApiRequest, ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { managerFromUserAgent } from '../patch/manager.ts';
import type { ResourceRequest } from '../request-info.ts';
import type { Resource } from '../resources.ts';
import type { User } from '../user.ts';
import type { WriteOptions } from '../write-options.ts';

export type Call = {
  readonly context: ApiContext;
  readonly request: ApiRequest;
  readonly info: ResourceRequest;
  readonly resource: Resource;
  /** The subresource asked for; absent for the object itself. */
  readonly subresource?: SubresourceDefinition<KubeObject>;
  readonly user: User;
  readonly warn: (text: string) => void;
};

export type VerbHandler = (call: Call) => Promise<ApiResponse> | ApiResponse;

export function writeRequest(call: Call, options: WriteOptions): WriteRequest {
  const { context, request, user, warn } = call;
  return {
    user,
    dryRun: options.dryRun,
    manager: options.fieldManager || managerFromUserAgent(header(request, 'user-agent') ?? ''),
    now: formatTime(context.now()),
    warn,
  };
}

/** What admission leaves of a write; `before` is absent when it creates. Throws what it refuses. */
export function admitted(
  call: Call,
  before: KubeObject | undefined,
  after: KubeObject,
): KubeObject {
  const { context, user, resource, info } = call;
  return context.admit({
    user,
    operation: before === undefined ? 'create' : 'update',
    definition: resource.definition,
    subresource: info.subresource,
    namespace: namespaceOf(call),
    name: info.name || (after.metadata.name ?? ''),
    pathName: info.name,
    ...(before === undefined ? {} : { before }),
    after,
  });
}

/** Throws what admission refuses to let go. */
export function admitDelete(call: Call, name: string, namespace: string): void {
  const { context, user, resource, info } = call;
  const { definition } = resource;
  const { subresource } = info;
  context.admitDelete({ user, operation: 'delete', definition, subresource, namespace, name });
}

/** Where the objects of the request live: cluster-wide kinds have no namespace, whatever the path said. */
export function namespaceOf({ info, resource }: Call): string {
  return resource.definition.namespaced ? info.namespace : '';
}

export function keyPrefix(call: Call): string {
  const { codec } = call.resource;
  const namespace = namespaceOf(call);
  return namespace === '' ? codec.prefix : codec.key(namespace, '');
}

export function targetOf(definition: KindDefinition): {
  readonly group: string;
  readonly resource: string;
} {
  return { group: definition.group, resource: definition.plural };
}
