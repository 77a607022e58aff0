// services/proxy and pods/proxy: requests of any method that go on to a pod.
import { randomInt } from 'node:crypto';
import { badRequest } from '../../meta/api-error.ts';
import type { ApiResponse } from '../message.ts';
import { findPodTarget, findServiceTarget } from '../proxy/find-target.ts';
import { dialPod, forward } from '../proxy/forward.ts';
import type { Forwarded } from '../proxy/proxy-headers.ts';
import { type Call, namespaceOf } from '../verbs/call.ts';

export async function proxy(call: Call): Promise<ApiResponse> {
  const { context, request, info, resource } = call;
  const { prefix, path } = forwardedPart(call);
  if (path === '' && (request.method === 'GET' || request.method === 'HEAD')) {
    // Relative links of the page would leave the proxy otherwise.
    return { status: 301, headers: { location: `${prefix}/${queryOf(call)}` }, body: '' };
  }
  const find = resource.definition.plural === 'pods' ? findPodTarget : findServiceTarget;
  const target = find({
    reader: context.resources.reader,
    namespace: namespaceOf(call),
    id: info.name,
    random: (below) => randomInt(below),
  });
  const dial = context.dial ?? dialPod;
  return forward({
    request,
    target,
    dial,
    prefix,
    path: `${path === '' ? '/' : path}${queryOf(call)}`,
  });
}

const queryOf = ({ request }: Call): string =>
  request.rawQuery === undefined || request.rawQuery === '' ? '' : `?${request.rawQuery}`;

/**
 * The path in two, both as they came: access was judged by the decoded path, so the first part must be what that
 * path says, and what an encoded slash hides is refused.
 */
function forwardedPart({ request, info }: Call): Forwarded {
  const match = /^(\/api\/+v1\/+namespaces\/+([^/]+)\/+([^/]+)\/+([^/]+)\/+proxy)(\/.*)?$/s.exec(
    request.path,
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
