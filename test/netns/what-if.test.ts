// What `fairlead what-if` predicts is what happens: each change is predicted, then made, and the endpoints and the shares of real
// connections are compared with the prediction.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EndpointSlice } from '../../src/kinds/endpoint-slice/types.ts';
import type { ServiceComparison, View, WhatIf } from '../../src/what-if/what-if.ts';
import { endWith, makeDirectory, removeDirectory, startUp, type Up, until } from './up-harness.ts';

const timeout = 600_000;
const program = "require('http').createServer((q, s) => s.end(process.env.POD)).listen(8080)";
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: web
        image: process
        command: [node, -e, "${program}"]
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
`;
/** New connections to the address, and how many of them each pod answered. */
const client = `
const [url, count] = process.argv.slice(2);
const answers = {};
(async () => {
  for (let i = 0; i < Number(count); i += 1) {
    const text = await new Promise((resolve) => {
      const request = require('http').get(url, { agent: false, timeout: 3000 }, (response) => {
        let body = '';
        response.on('data', (part) => (body += part)).on('end', () => resolve(body));
      });
      request.on('timeout', () => request.destroy(new Error('timeout')));
      request.on('error', ({ code, message }) => resolve(code || message));
    });
    answers[text] = (answers[text] || 0) + 1;
  }
  console.log(JSON.stringify(answers));
})();
`;
const connections = 400;
/** So many standard deviations happen once in a million. */
const tolerance = 5;

describe('what-if predicts what happens', { timeout }, () => {
  const directory = makeDirectory('root');
  let up: Up;

  before(async () => {
    up = await startUp('root', directory, ['--nodes', '3', '--proxy-mode', 'nftables']);
    writeFileSync(join(directory, 'web.yaml'), manifest);
    writeFileSync(join(directory, 'client.js'), client);
    await up.kubectl('apply', '-f', join(directory, 'web.yaml'));
    await up.kubectl('rollout', 'status', 'deployment/web', '--timeout=200s');
    await settled(up, 3);
  });
  after(async () => {
    await endWith(up, 'SIGTERM');
    removeDirectory(directory);
  });

  test('of a policy: clients of each node keep to their node', async () => {
    const predicted = await predict(up, '--set', 'svc/web:internalTrafficPolicy=Local');
    const patch = (policy: string) =>
      up.kubectl('patch', 'service', 'web', '-p', `{"spec":{"internalTrafficPolicy":"${policy}"}}`);
    await patch('Local');
    for (const node of ['node-1', 'node-2', 'node-3']) {
      await compareShares(up, { node, predicted: afterOf(viewFor(predicted, node)) });
    }
    await patch('Cluster');
  });

  test('of a smaller scale: the pods that go, and the shares of the others', async () => {
    // Of equal ones, those that go depend on the moment: the cost makes them differ.
    const [cheapest] = await readyEndpoints(up);
    const victim = cheapest?.pod.split('/')[1] ?? '';
    const cost = 'controller.kubernetes.io/pod-deletion-cost=-10';
    await up.kubectl('annotate', 'pod', victim, cost);
    const predicted = await predict(up, '--scale', 'deploy/web=2');
    await up.kubectl('scale', 'deployment/web', '--replicas=2');
    const ready = await settled(up, 2);
    const shares = afterOf(viewFor(predicted, 'node-1'));
    assert.ok(!shares.has(`default/${victim}`));
    assert.deepEqual(ready.map(({ pod }) => pod).sort(), [...shares.keys()].sort());
    await compareShares(up, { node: 'node-1', predicted: shares });
  });

  test('of a drain: where new pods run, and the shares', async () => {
    const [victim] = await readyEndpoints(up);
    const node = victim?.node ?? '';
    const predicted = await predict(up, '--drain', `node/${node}`);
    await up.kubectl('drain', node, '--ignore-daemonsets', '--force', '--delete-emptydir-data');
    const ready = await settled(up, 2);
    const { endpoints } = viewFor(predicted, node);
    const expected = endpoints.filter(({ after: share }) => share > 0);
    assert.deepEqual(ready.map((one) => one.node).sort(), expected.map((one) => one.node).sort());
    const staying = expected.filter(({ isNew }) => !isNew).map(({ pod }) => pod);
    assert.ok(staying.every((pod) => ready.some((one) => one.pod === pod)));
    // New pods have names of their own by now.
    const names = new Map(ready.map((one) => [one.node, one.pod]));
    const shares = expected.map((one) => [names.get(one.node ?? '') ?? '', one.after] as const);
    await compareShares(up, { node, predicted: new Map(shares) });
  });
});

async function predict(up: Up, ...flags: readonly string[]): Promise<ServiceComparison> {
  const kubeconfig = ['--kubeconfig', join(up.directory, '.fairlead', 'kubeconfig')];
  const text = await up.fairlead('what-if', ...flags, ...kubeconfig, '-o', 'json');
  const { services, verdict } = JSON.parse(text) as WhatIf;
  assert.deepEqual(
    services.map(({ name }) => name),
    ['web'],
    verdict.sentence,
  );
  return services[0] as ServiceComparison;
}

type Ready = { readonly pod: string; readonly node: string };

async function readyEndpoints(up: Up): Promise<readonly Ready[]> {
  const list = JSON.parse(
    await up.kubectl('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web', '-o', 'json'),
  ) as { readonly items: readonly EndpointSlice[] };
  return list.items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions.ready === true)
    .map(({ targetRef, nodeName }) => ({
      pod: `default/${targetRef?.name ?? ''}`,
      node: nodeName ?? '',
    }));
}

/** Until this many endpoints are ready and none terminates. */
async function settled(up: Up, count: number): Promise<readonly Ready[]> {
  return until(async () => {
    const ready = await readyEndpoints(up);
    const pods = (await up.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).trim();
    return ready.length === count && pods.split('\n').length === count ? ready : undefined;
  });
}

async function sharesFrom(up: Up, node: string): Promise<ReadonlyMap<string, number>> {
  const address = await up.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
  const script = join(up.directory, 'client.js');
  const words = ['node', script, `http://${address}/`, `${connections}`];
  const answers = JSON.parse(
    await up.fairlead('shell', '--node', node, '--', ...words),
  ) as Readonly<Record<string, number>>;
  return new Map(
    Object.entries(answers).map(([pod, count]) => [`default/${pod}`, count / connections]),
  );
}

/** Rules follow within a moment: pods that get nothing must not answer, then shares are as predicted. */
async function compareShares(
  up: Up,
  { node, predicted }: { readonly node: string; readonly predicted: ReadonlyMap<string, number> },
): Promise<void> {
  const observed = await until(async () => {
    const shares = await sharesFrom(up, node);
    return [...shares.keys()].every((pod) => predicted.has(pod)) ? shares : undefined;
  });
  for (const [pod, share] of predicted) {
    const deviation = Math.sqrt((share * (1 - share)) / connections);
    const difference = Math.abs((observed.get(pod) ?? 0) - share);
    assert.ok(difference <= tolerance * deviation, `${pod}: ${observed.get(pod)}, not ${share}`);
  }
}

const afterOf = ({ endpoints }: View): ReadonlyMap<string, number> =>
  new Map(endpoints.flatMap(({ pod = '', after: share }) => (share > 0 ? [[pod, share]] : [])));

const viewFor = ({ views }: ServiceComparison, node: string): View => {
  const found = views.find(({ clients }) => clients.nodes?.includes(node) ?? true);
  assert.ok(found !== undefined, `there is a view from ${node}`);
  return found;
};
