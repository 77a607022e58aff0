// The informers of many proxies, each with connections of its own as its node would have, and changes of one endpoint that all of
// them see; in one thread so that one clock times both ends.
import { parentPort, workerData } from 'node:worker_threads';
import { createHttpTransport } from '../../src/client/http-transport.ts';
import { waitForSync } from '../../src/client/shared-informers.ts';
import { systemClock } from '../../src/host/clock.ts';
import { silentLog } from '../../src/observe/log.ts';
import { startProxyInformers } from '../../src/proxy/run-informers.ts';
import { openClient, prepare } from './client.ts';
import type { NodesPlan, NodesResult, NodesSynced } from './nodes-plan.ts';
import { serviceName, slicesPath } from './objects.ts';

const plan = workerData as NodesPlan;
const { port, ca, cert, key } = plan.target;
const stopping = new AbortController();
const seen = { count: 0, sentAt: 0, isTimed: false, all: (): void => {} };
const latencies: number[] = [];
const toAll: number[] = [];

parentPort?.once('message', () => void main());
parentPort?.postMessage('ready');

async function main(): Promise<void> {
  const begin = performance.now();
  await Promise.all(Array.from({ length: plan.nodes }, (_, index) => startNode(index)));
  const synced: NodesSynced = { seconds: (performance.now() - begin) / 1000 };
  parentPort?.once('message', () => {
    void change().then((result) => {
      parentPort?.postMessage(result);
      process.exit();
    });
  });
  parentPort?.postMessage(synced);
}

async function startNode(index: number): Promise<void> {
  const transport = createHttpTransport({
    server: `https://127.0.0.1:${port}`,
    namespace: 'default',
    ...{ certificateAuthority: ca, clientCertificate: cert, clientKey: key },
    skipTlsVerification: false,
  });
  const caller = { transport, userAgent: 'fairlead-proxy/bench' };
  const informers = startProxyInformers(
    {
      caller,
      clock: systemClock,
      log: silentLog,
      watchesAllNodes: true,
      nodeName: `node-${index}`,
    },
    stopping.signal,
  );
  const { services, slices, nodes, ranges } = informers;
  await waitForSync([services, slices, nodes, ranges], stopping.signal);
  slices.onChange({ update: onUpdate });
}

function onUpdate(): void {
  if (seen.isTimed) latencies.push(performance.now() - seen.sentAt);
  seen.count += 1;
  if (seen.count === plan.nodes) seen.all();
}

async function change(): Promise<NodesResult> {
  const writer = await openClient(plan.target, 'http/1.1');
  for (let round = 0; round < plan.warmUp + plan.changes; round += 1) {
    seen.isTimed = round >= plan.warmUp;
    seen.count = 0;
    const shown = new Promise<void>((resolve) => {
      seen.all = resolve;
    });
    const path = `${slicesPath}/${serviceName(0)}-a`;
    const contentType = 'application/json-patch+json';
    const value = round % 2 === 1;
    const body = JSON.stringify([{ op: 'replace', path: '/endpoints/0/conditions/ready', value }]);
    seen.sentAt = performance.now();
    const answered = writer.send(prepare({ method: 'PATCH', path, contentType, body }, 'http/1.1'));
    await Promise.all([shown, answered]);
    if (seen.isTimed) toAll.push(performance.now() - seen.sentAt);
  }
  return { latencies: Float64Array.from(latencies), toAll: Float64Array.from(toAll) };
}
