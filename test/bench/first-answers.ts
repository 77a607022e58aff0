// Pods that are the first ones behind their Services: from their creation to their first answers, and where the time goes.
import { get } from 'node:http';
import { setTimeout as passed } from 'node:timers/promises';
import { type ApiCaller, callApi } from '../../src/client/api-call.ts';
import { createHttpTransport } from '../../src/client/http-transport.ts';
import { startInformer } from '../../src/client/informer.ts';
import type { ResourceType } from '../../src/client/resource.ts';
import { systemClock } from '../../src/host/clock.ts';
import { endpointSliceDefinition } from '../../src/kinds/endpoint-slice/definition.ts';
import { podDefinition } from '../../src/kinds/pod/definition.ts';
import type { Service } from '../../src/kinds/service/types.ts';
import type { KubeObject } from '../../src/meta/object.ts';
import { createLog } from '../../src/observe/log.ts';
import { host } from './client.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';
import type { Target } from './target.ts';

const rounds = 15;
const services = '/api/v1/namespaces/default/services';
const podsPath = '/api/v1/namespaces/default/pods';

export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export function openCaller({ port, ca, cert, key }: Target): ApiCaller {
  const transport = createHttpTransport({
    server: `https://${host}:${port}`,
    ...{ certificateAuthority: ca, clientCertificate: cert, clientKey: key },
    ...{ skipTlsVerification: false, namespace: 'default' },
  });
  return { transport, userAgent: 'bench/1.0' };
}

export const callOf =
  (caller: ApiCaller): Call =>
  async <T>(method: string, path: string, body?: unknown) =>
    (await callApi(caller, { method, path, ...(body === undefined ? {} : { body }) })) as T;

export type AnsweringPods = {
  readonly row: string;
  /** `a Node.js server`. */
  readonly what: string;
  /** Without name; it listens on port 8080. */
  readonly container: object;
};

/** What is seen of a pod, in order. */
const steps = ['on its node', 'with an address', 'running', 'in its EndpointSlice'] as const;
type Step = (typeof steps)[number];

/** Each is asked through the node port of a Service of its own, on this machine's loopback. */
export async function firstAnswers(
  caller: ApiCaller,
  { row, what, container }: AnsweringPods,
): Promise<readonly Figure[]> {
  const call = callOf(caller);
  const end = new AbortController();
  const seen = await watchSteps(caller, end.signal);
  const times: number[] = [];
  const stack = new Map<Step, number[]>(steps.map((step) => [step, []]));
  for (let round = 0; round < rounds; round += 1) {
    const name = `answers-${what.replace(/[^a-z]+/gi, '-').toLowerCase()}-${round}`;
    const { spec } = await call<Service>('POST', services, {
      metadata: { name },
      spec: { type: 'NodePort', selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const port = spec.ports?.[0]?.nodePort ?? 0;
    const begin = performance.now();
    await call('POST', podsPath, {
      metadata: { name, labels: { app: name } },
      spec: { containers: [{ name: 'server', ...container }] },
    });
    while (!(await isAnswered(port))) await passed(5);
    times.push(performance.now() - begin);
    for (const step of steps) stack.get(step)?.push((seen.get(`${name} ${step}`) ?? begin) - begin);
    await call('DELETE', `${podsPath}/${name}`);
    await call('DELETE', `${services}/${name}`);
  }
  end.abort();
  const figure = (text: string, values: readonly number[]): Figure => {
    const sorted = Float64Array.from(values).sort();
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
    return { row, unit: 'ms', value: p50, p50, p99, what: text };
  };
  const text = `a pod created, to its first answer through its Service (${what})`;
  return [
    { ...figure(text, times), goal: 400 },
    ...steps.map((step) => figure(`of it, until the pod is seen ${step}`, stack.get(step) ?? [])),
  ];
}

/** When each step of each pod was first seen, by `NAME STEP`. */
async function watchSteps(
  caller: ApiCaller,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const seen = new Map<string, number>();
  const see = (name: string, step: Step, holds: boolean): void => {
    const key = `${name} ${step}`;
    if (holds && !seen.has(key)) seen.set(key, performance.now());
  };
  await follow(caller, podDefinition, signal, ({ metadata: { name = '' }, spec, status }) => {
    see(name, 'on its node', spec.nodeName !== undefined && spec.nodeName !== '');
    see(name, 'with an address', status.podIP !== undefined);
    see(name, 'running', status.phase === 'Running');
  });
  await follow(caller, endpointSliceDefinition, signal, ({ metadata, endpoints }) => {
    const name = metadata.labels?.['kubernetes.io/service-name'] ?? '';
    const isReady = (endpoints ?? []).some(({ conditions }) => conditions?.ready === true);
    see(name, 'in its EndpointSlice', isReady);
  });
  return seen;
}

async function follow<T extends KubeObject>(
  caller: ApiCaller,
  type: ResourceType<T>,
  signal: AbortSignal,
  listener: (object: T) => void,
): Promise<void> {
  const informer = startInformer(
    { caller, type, clock: systemClock, log: createLog('warn') },
    signal,
  );
  await informer.synced();
  informer.onChange({ add: listener, update: (_, after) => listener(after), delete: () => {} });
}

function isAnswered(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, timeout: 1000 }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    request.on('error', () => resolve(false));
    request.on('timeout', () => request.destroy());
  });
}
