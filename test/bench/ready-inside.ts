// Runs inside the namespace: `ready-inside.js DIRECTORY`. Prints figures as JSON.
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { endpointSliceDefinition } from '../../src/kinds/endpoint-slice/definition.ts';
import { askUdp } from '../parts/harness/dns-client.ts';
import { startBinary } from './binary.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { podAddress, podName, podReadyBody, podsEach, podsPath } from './cluster-objects.ts';
import { startDnsBinary } from './dns-process.ts';
import type { Figure } from './figure.ts';
import { fillStore } from './fill-store.ts';
import { percentile } from './load.ts';
import { namespace, serviceName } from './objects.ts';
import { startProxyBinary } from './proxy-binary.ts';

const services = 1000;
const rounds = 200;
/** Between rounds: pods do not come by the clock of our own work. */
const pauseMs = 20;

const [directory = '.'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measure()));
process.exit();

async function measure(): Promise<readonly Figure[]> {
  await fillStore(directory, services);
  // The nodes of a benchmark have no agents.
  const flags = ['--node-startup-grace-period', '24h'];
  const server = await startBinary({ command: 'up', directory, flags });
  const cluster = await openCluster(server.target);
  await untilWritten(cluster);
  const kubeconfig = join(directory, 'kubeconfig');
  const proxy = startProxyBinary(kubeconfig, 'nftables');
  await proxy.nextSync((line) => line.isFull && line.family === 'IPv4');
  const dns = await startDnsBinary(kubeconfig);
  const written = async (): Promise<number> => {
    await proxy.nextSync((line) => !line.isFull && line.family === 'IPv4');
    return performance.now();
  };
  const answered = async (pod: number, isThere: boolean): Promise<number> => {
    const address = { host: '127.0.0.1', port: dns.port };
    while ((await askUdp(address, { name: dnsName(pod) })).lines.length > 1 !== isThere);
    return performance.now();
  };
  /** How long each of them takes to follow, from the answer to the pod's own change. */
  const change = async (pod: number, isReady: boolean): Promise<readonly number[]> => {
    const inRules = written();
    const body: unknown = JSON.parse(podReadyBody(pod, isReady));
    await cluster.call('PATCH', `${podsPath}/${podName(pod)}/status`, body);
    const changedAt = performance.now();
    const seenAt = await Promise.all([inRules, answered(pod, isReady)]);
    return seenAt.map((at) => at - changedAt);
  };
  const times: number[][] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const pod = (round * 4_999) % (services * podsEach);
    await change(pod, false);
    await passed(pauseMs);
    for (const [at, time] of (await change(pod, true)).entries()) times[at]?.push(time);
    await passed(pauseMs);
  }
  await cluster.close();
  for (const process of [dns, proxy, server]) await process.stop();
  return figures(times);
}

/** Resolves when every service has a slice with all its pods. */
async function untilWritten(cluster: Cluster): Promise<void> {
  const missing = new Set(Array.from({ length: services }, (_, index) => serviceName(index)));
  await new Promise<void>((resolve, reject) => {
    cluster
      .follow(endpointSliceDefinition, ({ metadata, endpoints }) => {
        if (endpoints?.length !== podsEach) return;
        missing.delete(metadata.labels?.['kubernetes.io/service-name'] ?? '');
        if (missing.size === 0) resolve();
      })
      .catch(reject);
  });
}

/** The name of one endpoint of a service. */
function dnsName(pod: number): string {
  const service = serviceName(Math.floor(pod / podsEach));
  return `${podAddress(pod).replaceAll('.', '-')}.${service}.${namespace}.svc.cluster.local`;
}

function figures([inRules = [], inAnswers = []]: readonly number[][]): readonly Figure[] {
  const row = 'ready';
  const figure = (what: string, times: readonly number[]) => {
    const sorted = Float64Array.from(times).sort();
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
    return { row, unit: 'ms', value: p99, p50, p99, what } as const;
  };
  const both = inRules.map((time, at) => Math.max(time, inAnswers[at] ?? 0));
  return [
    {
      ...figure('a pod is ready, to proxy and DNS leading to it, 1,000 services of 10, p99', both),
      goal: 100,
    },
    figure('of it, to the rules in the kernel', inRules),
    figure('of it, to the answer of DNS', inAnswers),
  ];
}
