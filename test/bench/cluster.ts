// A client of the server that is measured, and what rows about controllers watch of it.
import { type ApiCaller, callApi, openCall } from '../../src/client/api-call.ts';
import { createHttpTransport } from '../../src/client/http-transport.ts';
import { startInformer } from '../../src/client/informer.ts';
import type { ResourceType } from '../../src/client/resource.ts';
import { systemClock } from '../../src/host/clock.ts';
import { isAlreadyExists } from '../../src/meta/api-error.ts';
import type { KubeObject } from '../../src/meta/object.ts';
import { createLog } from '../../src/observe/log.ts';
import { host } from './client.ts';
import { nodeBodies } from './cluster-objects.ts';
import type { Target } from './target.ts';

export type Cluster = {
  readonly caller: ApiCaller;
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Told what there is, then of every change; resolves when the first has been told. */
  readonly follow: <T extends KubeObject>(
    type: ResourceType<T>,
    changed: (object: T, isGone: boolean) => void,
  ) => Promise<void>;
  /** Writes of a resource that the server has answered so far, refused ones too. */
  readonly countWrites: (resource: string) => Promise<number>;
  readonly close: () => Promise<void>;
};

const writeVerbs = new Set(['CREATE', 'UPDATE', 'PATCH', 'DELETE', 'POST', 'PUT']);

export async function openCluster(target: Target): Promise<Cluster> {
  const transport = createHttpTransport({
    server: `https://${host}:${target.port}`,
    certificateAuthority: target.ca,
    clientCertificate: target.cert,
    clientKey: target.key,
    skipTlsVerification: false,
    namespace: 'default',
  });
  const caller = { transport, userAgent: 'bench/1.0' };
  const end = new AbortController();
  const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
    callApi(caller, {
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
    });
  await Promise.all(nodeBodies().map((body) => ensureNode(call, body)));
  return {
    caller,
    call,
    async follow(type, changed) {
      const informer = startInformer(
        { caller, type, clock: systemClock, log: createLog('warn') },
        end.signal,
      );
      await informer.synced();
      informer.onChange({
        add: (object) => changed(object, false),
        update: (_before, after) => changed(after, false),
        delete: (object) => changed(object, true),
      });
    },
    async countWrites(resource) {
      const lines = (await readMetrics(caller)).filter((line) =>
        line.startsWith('apiserver_request_total{'),
      );
      const value = (line: string, label: string): string =>
        new RegExp(`${label}="([^"]*)"`).exec(line)?.[1] ?? '';
      return lines
        .filter((l) => value(l, 'resource') === resource && writeVerbs.has(value(l, 'verb')))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    close() {
      end.abort();
      return transport.close();
    },
  };
}

async function ensureNode(call: Cluster['call'], body: unknown): Promise<void> {
  try {
    await call('POST', '/api/v1/nodes', body);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function readMetrics(caller: ApiCaller): Promise<readonly string[]> {
  const { body } = await openCall(caller, { method: 'GET', path: '/metrics' });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').split('\n');
}
