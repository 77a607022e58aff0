// pods/log: served by the agent of the pod's node.
import type { IncomingMessage } from 'node:http';
import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest, failure, internal } from '../../meta/api-error.ts';
import type { ApiResponse, Sink } from '../message.ts';
import { findNode } from '../proxy/find-node.ts';
import { pipeBody } from '../proxy/forward.ts';
import { requestNode } from '../proxy/request-node.ts';
import { type Call, liveObject, namespaceOf } from '../verbs/call.ts';
import { isWebSocketRequest } from '../web-socket/handshake.ts';
import { byteFramings, sendOverWebSocket } from '../web-socket/send-stream.ts';
import { logContainer, logQuery } from './log-options.ts';

/** Of a node's error message, as much is forwarded. */
const maxProblemBytes = 2048;

export async function getLog(call: Call): Promise<ApiResponse> {
  const { context, request, info } = call;
  const pod = liveObject(call).object as Pod;
  const query = logQuery(request.query, info.name);
  const container = logContainer(pod, request.query.get('container') ?? '');
  const { nodeName } = pod.spec;
  // A pod without a node has no log.
  if (!nodeName) return { status: 200, headers: plain, body: '' };
  const path = `/containerLogs/${namespaceOf(call)}/${info.name}/${container}${query}`;
  const message = await requestNode({
    target: findNode(context.resources.reader, nodeName),
    path,
    dial: context.dialNode,
    credentials: context.nodeCredentials(),
    signal: request.signal(),
  });
  if (message.statusCode !== 200) throw await problem(message, info.name);
  const body = { start: (sink: Sink) => pipeBody(message, sink) };
  if (isWebSocketRequest(request)) return sendOverWebSocket(request, body, byteFramings);
  return { status: 200, headers: plain, body };
}

const plain = { 'content-type': 'text/plain' };

async function problem(message: IncomingMessage, name: string): Promise<Error> {
  const { statusCode: code = 500 } = message;
  const text = await readStart(message);
  if (code === 400) return badRequest(text);
  if (code === 404) {
    const details = { name, kind: 'pods/log' };
    const words = `the server could not find the requested resource ( pods/log ${name})`;
    return failure({ code, reason: 'NotFound', message: words, details });
  }
  return code === 500 ? internal(text) : failure({ code, message: text });
}

async function readStart(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxProblemBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxProblemBytes).trim();
}
