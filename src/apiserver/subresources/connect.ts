// pods/exec, pods/attach, pods/portforward: the connection is forwarded to the agent of the pod's node, byte for byte, whatever
// its protocol (SPDY or WebSocket).
import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest } from '../../meta/api-error.ts';
import { tooManyTunnels } from '../limits/too-many-requests.ts';
import { type ApiResponse, header, isTunnel, type Tunnel } from '../message.ts';
import { findNode } from '../proxy/find-node.ts';
import { forward } from '../proxy/forward.ts';
import { authorizeVerb, type Call, liveObject } from '../verbs/call.ts';
import { nodeNameOf, portForwardPath, type StreamKind, streamPath } from './connect-options.ts';

export const exec = (call: Call): Promise<ApiResponse> => connectStreams('exec', call);
export const attach = (call: Call): Promise<ApiResponse> => connectStreams('attach', call);

export const forwardPorts = (call: Call): Promise<ApiResponse> =>
  connect(call, (pod) => portForwardPath(pod, call.request.query));

const connectStreams = (kind: StreamKind, call: Call): Promise<ApiResponse> =>
  connect(call, (pod) => streamPath(kind, pod, call.request.query));

async function connect(call: Call, pathFor: (pod: Pod) => string): Promise<ApiResponse> {
  const { context, request, user } = call;
  // A browser's WebSocket can only be a GET; what it does is the same as a POST does.
  authorizeVerb(call, 'create');
  const pod = liveObject(call).object as Pod;
  const path = pathFor(pod);
  const { node, host, port } = findNode(context.resources.reader, nodeNameOf(pod));
  if (header(request, 'upgrade') === undefined || request.tunnels !== true)
    throw badRequest('Upgrade request required');
  const { tunnels } = context;
  if (!tunnels.hasRoom(user.name)) throw tooManyTunnels(user.name, tunnels.limit);
  const closed = tunnels.add(user.name);
  try {
    const response = await forward({
      request,
      target: {
        ...{ scheme: 'https', host, port },
        agent: { node, credentials: context.nodeCredentials() },
      },
      dial: context.dialNode,
      prefix: '',
      path,
    });
    return isTunnel(response.body)
      ? { ...response, body: counted(response.body, closed) }
      : refused(response, closed);
  } catch (error) {
    closed();
    throw error;
  }
}

function counted({ tunnelTo }: Tunnel, closed: () => void): Tunnel {
  return {
    tunnelTo(client) {
      client.once('close', closed);
      tunnelTo(client);
    },
  };
}

/** The node refused; its response goes to the client. */
function refused(response: ApiResponse, closed: () => void): ApiResponse {
  closed();
  return response;
}
