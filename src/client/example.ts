// For tests: a transport with scripted responses, and an example ConfigMap.
import type { ConfigMap } from '../kinds/config-map/types.ts';
import type { ObjectMeta } from '../meta/object.ts';
import type { ResourceType } from './resource.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export const configMaps: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export function exampleConfigMap(name: string, metadata: ObjectMeta = {}): ConfigMap {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'a', ...metadata } };
}

export type ScriptedTransport = Transport & { readonly requests: TransportRequest[] };

/** Answers each request with the result of `answer`, and records the requests. */
export function scriptedTransport(
  answer: (
    request: TransportRequest,
    index: number,
  ) => TransportResponse | Promise<TransportResponse>,
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  return {
    requests,
    send: async (request) => {
      requests.push(request);
      return answer(request, requests.length - 1);
    },
    close: () => Promise.resolve(),
  };
}

export function jsonAnswer(body: unknown, status = 200): TransportResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: chunks([JSON.stringify(body)]),
  };
}

export function failureAnswer(code: number, reason: string, message = ''): TransportResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason,
    code,
  };
  return jsonAnswer(message === '' ? status : { ...status, message }, code);
}

/** A watch response that sends the events and then ends, or stays open until the signal is aborted. */
export function watchAnswer(events: readonly unknown[], open?: AbortSignal): TransportResponse {
  return {
    status: 200,
    headers: {},
    body: chunks(
      events.map((event) => `${JSON.stringify(event)}\n`),
      open,
    ),
  };
}

async function* chunks(texts: readonly string[], open?: AbortSignal): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
  if (open === undefined || open.aborted) return;
  await new Promise((resolve) => open.addEventListener('abort', resolve, { once: true }));
}
