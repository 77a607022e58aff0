// A rollout in a real `up`, as `fairlead propagation` and `fairlead history` tell it: when the first says that everything is in effect, it is,
// and the second has every step in order.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { History, HistoryState } from '../../src/history/history.ts';
import type { Propagation, PropagationChange } from '../../src/propagation/propagation.ts';
import { root } from '../lanes/running-server.ts';
import { endWith, makeDirectory, removeDirectory, startUp, type Up, until } from './up-harness.ts';

const timeout = 300_000;
const run = promisify(execFile);

const manifest = (version: string): string => `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: web
        image: process
        env: [{name: SECRET, value: ${version}-hunter2}]
        command: [node, -e, "require('http').createServer((q, s) => s.end('${version}')).listen(8080)"]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
`;

type Rollout = { readonly directory: string; readonly up: Up };

async function apply({ directory, up }: Rollout, version: string): Promise<void> {
  writeFileSync(join(directory, 'web.yaml'), manifest(version));
  await up.kubectl('apply', '-f', join(directory, 'web.yaml'));
  await up.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
}

const json = async <T>({ up }: Rollout, ...words: readonly string[]): Promise<T> =>
  JSON.parse(await up.fairlead(...words, '-o', 'json')) as T;

const wait = (rollout: Rollout): Promise<Propagation> =>
  json(rollout, 'propagation', 'svc/web', '--wait', '--timeout', '60s');

/** What the Service answers, at the first attempt. */
async function get({ up }: Rollout): Promise<string> {
  const address = await up.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
  return up.fairlead('shell', '--', 'curl', '-s', '-m', '5', `http://${address}`);
}

describe('a rollout', { timeout }, () => {
  let directory: string;
  let up: Up;
  const rollout = (): Rollout => ({ directory, up });

  before(async () => {
    directory = makeDirectory('root');
    up = await startUp('root', directory, ['--nodes', '2']);
  });
  after(async () => {
    if (up?.process.exitCode === null && up.process.signalCode === null)
      await endWith(up, 'SIGTERM');
    removeDirectory(directory);
  });

  test('is in effect when propagation --wait says so', () => isInEffect(rollout()));
  test('is followed by propagation --watch, up to the end', () => isFollowed(rollout()));
  test('is in history in order, without an outage before the Service was deleted', () =>
    isInOrder(rollout()));
  test('leaves an outage behind when nothing is left of it, and trace --at knows how it was', () =>
    leavesOutage(rollout()));
  test('leaves no value of an environment in what is shown', () => leavesNoValues(rollout()));
});

async function isInEffect(rollout: Rollout): Promise<void> {
  await apply(rollout, 'one');
  const { state, parts, nodesWithoutProxy } = await wait(rollout);
  assert.deepEqual([state, nodesWithoutProxy], ['current', []]);
  assert.deepEqual(
    parts.map(({ kind, state }) => [kind, state]),
    [
      ['dns', 'current'],
      ['proxy', 'current'],
      ['proxy', 'current'],
    ],
  );
  assert.equal(await get(rollout), 'one');
}

async function isFollowed(rollout: Rollout): Promise<void> {
  const { directory, up } = rollout;
  const env = { ...process.env, KUBECONFIG: join(directory, '.fairlead', 'kubeconfig') };
  const args = [join(root, 'bin', 'fairlead'), 'propagation', 'svc/web', '--watch', '-o', 'json'];
  const watching = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const out = text(watching.stdout);
  await once(watching.stdout, 'readable');
  const exited = once(watching, 'exit');
  await apply(rollout, 'two');
  const { revision } = await wait(rollout);
  assert.equal(await get(rollout), 'two');
  // It reads on its own schedule.
  await until(
    async () =>
      (await json<Propagation>(rollout, 'propagation', 'svc/web')).state === 'current' || undefined,
  );
  await up.kubectl('delete', 'service', 'web');
  const [code] = await exited;
  const lines = (await out).trimEnd().split('\n');
  const [first, ...changes] = lines.map((line) => JSON.parse(line) as PropagationChange);
  assert.equal(code, 0);
  assert.equal(first?.kind, 'Propagation');
  assert.equal(changes.at(-1)?.type, 'ServiceDeleted');
  assert.ok(changes.some(({ type }) => type === 'RevisionChanged'));
  assert.ok(
    changes.some(
      ({ type, revision: seen }) => type === 'AllCurrent' && Number(seen) >= Number(revision) - 50,
    ),
  );
}

async function isInOrder(rollout: Rollout): Promise<void> {
  const { events, outages } = await json<History>(rollout, 'history', 'svc/web');
  const deleted = events.findIndex(({ type }) => type === 'ServiceDeleted');
  assert.ok(deleted > 0);
  assert.match(events[deleted]?.user ?? '', /admin/);
  assert.deepEqual(outages, []);
  const steady = events.slice(0, deleted);
  const created = steady
    .filter(({ type }) => type === 'PodCreated')
    .map(({ object }) => object.name);
  assert.ok(created.length >= 4, `${created.length} pods`);
  const newest = created.at(-1);
  const at = (type: string): number =>
    steady.findIndex(
      (event) =>
        event.type === type && (event.object.name === newest || event.endpoint?.pod === newest),
    );
  const steps = ['PodCreated', 'PodScheduled', 'EndpointAdded', 'PodReady', 'EndpointReady'].map(
    at,
  );
  assert.ok(
    steps.every((step) => step >= 0),
    `${steps}`,
  );
  assert.deepEqual(
    steps,
    [...steps].sort((a, b) => a - b),
  );
  const [oldest] = created;
  const ends = ['PodTerminating', 'EndpointTerminating'].map((type) =>
    steady.findIndex(
      (event) =>
        event.type === type && (event.object.name === oldest || event.endpoint?.pod === oldest),
    ),
  );
  assert.ok((ends[0] ?? -1) >= 0 && (ends[0] ?? 0) < (ends[1] ?? 0), `${ends}`);
}

async function leavesOutage(rollout: Rollout): Promise<void> {
  const { directory, up } = rollout;
  await up.kubectl('apply', '-f', join(directory, 'web.yaml'));
  await wait(rollout);
  await up.kubectl('scale', 'deployment/web', '--replicas=0');
  await up.kubectl('wait', '--for=delete', 'pod', '-l', 'app=web', '--timeout=60s');
  const began = await until(async () => {
    const { outages } = await json<History>(rollout, 'history', 'svc/web');
    return outages.find(({ ended, cause }) => ended === undefined && cause === 'no-endpoints')
      ?.began;
  });
  await up.kubectl('scale', 'deployment/web', '--replicas=1');
  await up.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
  await wait(rollout);
  const { outages, events } = await json<History>(rollout, 'history', 'svc/web');
  const outage = outages.find((one) => one.began === began);
  assert.ok(outage?.ended !== undefined && outage.milliseconds > 0);
  assert.ok(events.some(({ type, level }) => type === 'OutageEnded' && level === 'good'));
  const within = new Date(Date.parse(began) + 1).toISOString();
  const traced = await up.fairlead('trace', 'svc/web', '--at', within);
  assert.match(traced, /as it was at/);
  assert.doesNotMatch(traced, /^Answered by/m);
  assert.match(await up.fairlead('trace', 'svc/web'), /^Answered by/m);
  const { state } = await json<HistoryState>(rollout, 'history', 'svc/web', '--at', within);
  assert.equal(state.endpoints.filter(({ ready }) => ready).length, 0);
}

async function leavesNoValues(rollout: Rollout): Promise<void> {
  const { directory } = rollout;
  const { stdout } = await run(
    process.execPath,
    [join(root, 'bin', 'fairlead'), 'history', 'svc/web', '-v', '-o', 'yaml'],
    {
      env: { ...process.env, KUBECONFIG: join(directory, '.fairlead', 'kubeconfig') },
      maxBuffer: 1 << 26,
    },
  );
  assert.doesNotMatch(stdout, /hunter2/);
}
