// The whole system on this machine: start to ready, a new pod to its first answer through its Service, and 200 pods.
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { callApi } from '../../src/client/api-call.ts';
import { createHttpTransport } from '../../src/client/http-transport.ts';
import type { Deployment } from '../../src/kinds/deployment/types.ts';
import type { Service } from '../../src/kinds/service/types.ts';
import { type Binary, startBinary } from './binary.ts';
import { host } from './client.ts';
import type { Figure } from './figure.ts';
import { median, percentile } from './load.ts';
import { cpuMicros, largestProcess, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const starts = 5;
const pods = 15;
const many = 200;

const row = 'up';
const services = '/api/v1/namespaces/default/services';
const podsPath = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

export async function upRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const ready: number[] = [];
  for (let time = 0; time < starts; time += 1) {
    const binary = await start(join(directory, `up-${time}`), 1);
    ready.push(binary.readyMs);
    await binary.stop();
  }
  const binary = await start(join(directory, 'up'), 2);
  try {
    const call = openCall(binary.target);
    return [
      { row, unit: 'ms', value: median(ready), what: 'up with a network of its own, to ready' },
      await firstAnswers(call),
      ...(await manyPods(call, binary)),
    ];
  } finally {
    await binary.stop();
  }
}

const start = (directory: string, nodes: number): Promise<Binary> =>
  startBinary({
    ...{ command: 'up', directory },
    flags: ['--network', 'isolated', '--nodes', String(nodes)],
  });

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

function openCall({ port, ca, cert, key }: Target): Call {
  const transport = createHttpTransport({
    server: `https://${host}:${port}`,
    ...{ certificateAuthority: ca, clientCertificate: cert, clientKey: key },
    ...{ skipTlsVerification: false, namespace: 'default' },
  });
  const caller = { transport, userAgent: 'bench/1.0' };
  return async <T>(method: string, path: string, body?: unknown) =>
    (await callApi(caller, { method, path, ...(body === undefined ? {} : { body }) })) as T;
}

const server =
  "require('http').createServer((q, a) => a.end(process.env.HOSTNAME)).listen(8080, '0.0.0.0')";

/** Each pod is the first one behind a Service of its own; asked through the node port, on this machine's loopback. */
async function firstAnswers(call: Call): Promise<Figure> {
  const times: number[] = [];
  for (let n = 0; n < pods; n += 1) {
    const name = `answers-${n}`;
    const { spec } = await call<Service>('POST', services, {
      metadata: { name },
      spec: { type: 'NodePort', selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const port = spec.ports?.[0]?.nodePort ?? 0;
    const begin = performance.now();
    await call('POST', podsPath, {
      metadata: { name, labels: { app: name } },
      spec: {
        containers: [
          { name: 'server', image: 'process', command: [process.execPath, '-e', server] },
        ],
      },
    });
    while ((await ask(port)) !== name) await passed(5);
    times.push(performance.now() - begin);
    await call('DELETE', `${podsPath}/${name}`);
    await call('DELETE', `${services}/${name}`);
  }
  const sorted = Float64Array.from(times).sort();
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  const what = 'a pod created, to its first answer through its Service (a Node.js server)';
  return { row, unit: 'ms', value: p50, p50, p99, what };
}

function ask(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ host, port, timeout: 1000 }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
      });
      response.on('end', () => resolve(text));
    });
    request.on('error', () => resolve(undefined));
    request.on('timeout', () => request.destroy());
  });
}

async function manyPods(call: Call, { pid }: Binary): Promise<readonly Figure[]> {
  const begin = performance.now();
  // The launcher and the first process of the namespace are small; all parts are in one process.
  const cpu = (): number => cpuMicros(largestProcess(pid));
  const before = cpu();
  await call('POST', deployments, {
    metadata: { name: 'many' },
    spec: {
      replicas: many,
      selector: { matchLabels: { app: 'many' } },
      template: {
        metadata: { labels: { app: 'many' } },
        spec: { containers: [{ name: 'sleeps', image: 'process', command: ['sleep', '3600'] }] },
      },
    },
  });
  for (let available = 0; available < many; await passed(50)) {
    const { status } = await call<Deployment>('GET', `${deployments}/many`);
    available = status?.availableReplicas ?? 0;
  }
  return [
    {
      ...{ row, unit: 's', value: (performance.now() - begin) / 1000 },
      what: '200 pods on one machine, created to all available (2 nodes)',
      cpuMicros: (cpu() - before) / many,
    },
    {
      ...{ row, unit: 'MiB', value: residentMiB(largestProcess(pid)).now },
      what: 'memory of all parts with them, without the containers',
    },
  ];
}
