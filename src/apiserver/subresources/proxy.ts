// services/proxy, pods/proxy and nodes/proxy: requests of any method that are forwarded to a pod or a node.
import { randomInt } from 'node:crypto';
import { badRequest } from '../../meta/api-error.ts';
import type { ApiResponse } from '../message.ts';
import { findNodeTarget } from '../proxy/find-node.ts';
import { findPodTarget, findServiceTarget, type Target } from '../proxy/find-target.ts';
import { type Dial, forward, isUpgrade } from '../proxy/forward.ts';
import type { Forwarded } from '../proxy/proxy-headers.ts';
import { authorizeVerb, type Call, namespaceOf } from '../verbs/call.ts';

export async function proxy(call: Call): Promise<ApiResponse> {
  const { request } = call;
  const { prefix, path } = forwardedPart(call);
  // Without a target that is the answer, whatever the path.
  const to = destination(call);
  // A node's agent upgrades connections for exec, attach and portforward, which need `create`. Upstream allows them with `get`.
  if (to.target.agent !== undefined && isUpgrade(request)) authorizeVerb(call, 'create');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path === '' && isRead && !isUpgrade(request)) {
    // Otherwise relative links of the page would leave the proxy.
    return { status: 301, headers: { location: `${prefix}/${queryOf(call)}` }, body: '' };
  }
  return forward({
    request,
    ...to,
    prefix,
    path: `${path === '' ? '/' : path}${queryOf(call)}`,
  });
}

function destination(call: Call): { readonly target: Target; readonly dial: Dial } {
  const { context, info, resource } = call;
  const { reader } = context.resources;
  const { plural } = resource.definition;
  if (plural === 'nodes') {
    const credentials = context.nodeCredentials;
    const target = findNodeTarget({ reader, id: info.name, credentials });
    return { target, dial: context.dialNode };
  }
  const find = plural === 'pods' ? findPodTarget : findServiceTarget;
  const random = (below: number): number => randomInt(below);
  const target = find({ reader, namespace: namespaceOf(call), id: info.name, random });
  return { target, dial: context.dial };
}

const queryOf = ({ rawUrl }: Call): string =>
  rawUrl.rawQuery === undefined || rawUrl.rawQuery === '' ? '' : `?${rawUrl.rawQuery}`;

/**
 * Splits the undecoded path: access was authorized for the decoded path, so the first part must decode to the same,
 * and one with encoded slashes is refused.
 */
function forwardedPart({ rawUrl, info }: Call): Forwarded {
  const match =
    /^(\/api\/+v1\/+(?:namespaces\/+([^/]+)\/+)?([^/]+)\/+([^/]+)\/+proxy)(\/.*)?$/s.exec(
      rawUrl.path,
    );
  const [, prefix = '', namespace = '', resource = '', name = '', path = ''] = match ?? [];
  const isSame =
    decoded(namespace) === info.namespace &&
    decoded(resource) === info.resource &&
    decoded(name) === info.name;
  if (match === null || !isSame) throw badRequest('the path before what is proxied is ambiguous');
  return { prefix, path };
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
