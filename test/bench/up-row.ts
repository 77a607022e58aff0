// The whole system on this machine: start to ready, a new pod to its first answer through its Service, and 200 pods.
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { Deployment } from '../../src/kinds/deployment/types.ts';
import { type Binary, startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { type Call, callOf, firstAnswers, openCaller } from './first-answers.ts';
import { median } from './load.ts';
import { cpuMicros, largestProcess, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const starts = 5;
const many = 200;

const row = 'up';
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
    const caller = openCaller(binary.target);
    return [
      { row, unit: 'ms', value: median(ready), what: 'up with a network of its own, to ready' },
      ...(await firstAnswers(caller, { row, what: 'a Node.js server', container: nodeServer })),
      ...(await manyPods(callOf(caller), binary)),
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

const server =
  "require('http').createServer((q, a) => a.end(process.env.HOSTNAME)).listen(8080, '0.0.0.0')";
const nodeServer = { image: 'process', command: [process.execPath, '-e', server] };

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
