// The end of a node agent: what became of its pods is told before it is gone, and the end does not wait for ever.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Transport } from '../../src/client/transport.ts';
import { createFakeClock } from '../../src/host/fake-clock.ts';
import { isPodReady } from '../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../src/kinds/pod/types.ts';
import type { ObjectList } from './api-client.ts';
import { type NodeHarness, pods, startNodeHarness } from './node-harness.ts';

const limit = { timeout: 120_000 };
const app = (...command: readonly string[]): object => ({ name: 'app', image: 'process', command });
const stateOf = ({ status }: Pod) => status.containerStatuses?.[0]?.state;
const isRunning = (pod: Pod): boolean => stateOf(pod)?.running !== undefined;

test('an agent that ends writes what became of all its pods', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const names = Array.from({ length: 200 }, (_, number) => `pod-${number}`);
  const spec = { containers: [app('sleep', '1000')] };
  await Promise.all(names.map((name) => harness.run(name, spec)));
  for (const name of names) await harness.until(name, isPodReady);
  await harness.stopNode();
  const { items } = await harness.api.get<ObjectList<Pod>>(pods);
  const told = items.map((pod) => [pod.status.phase, isPodReady(pod), ended(pod)]);
  assert.deepEqual(
    told,
    names.map(() => ['Running', false, 143]),
  );
});

const ended = (pod: Pod): number | undefined => stateOf(pod)?.terminated?.exitCode;

test('a pod that runs to its end has not come to it because the agent ended', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const polite = app('sh', '-c', 'trap "exit 0" TERM; echo set; while :; do sleep 1; done');
  await harness.run('job', { restartPolicy: 'OnFailure', containers: [polite] });
  await harness.until('job', isRunning);
  while (!(await logOf(harness, 'job')).includes('set'));
  await harness.stopNode();
  const pod = await harness.api.get<Pod>(`${pods}/job`);
  assert.deepEqual(
    [pod.status.phase, stateOf(pod)?.terminated?.reason],
    ['Running', 'ContainerStatusUnknown'],
  );
  await harness.startAgain();
  const again = await harness.until('job', isRunning);
  assert.equal(again.status.containerStatuses?.[0]?.restartCount, 1);
});

const logOf = async ({ api }: NodeHarness, name: string): Promise<string> =>
  String((await api.send({ method: 'GET', path: `${pods}/${name}/log` })).body);

test('an agent whose server says nothing ends all the same', limit, async (t) => {
  const clock = createFakeClock();
  let isSilent = false;
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const harness = await startNodeHarness(t, {
    clock,
    intercept: (send) => (request) => {
      if (!isSilent) return send(request);
      if (request.path.endsWith('/status')) asked();
      return never(request);
    },
  });
  await harness.run('one', { containers: [app('sleep', '1000')] });
  await harness.until('one', isRunning);
  isSilent = true;
  const stopped = harness.stopNode();
  await isAsked;
  await clock.advance(7000);
  await stopped;
  assert.equal(isRunning(await harness.api.get<Pod>(`${pods}/one`)), true);
});

/** As a connection on which no answer comes. */
const never: Transport['send'] = ({ signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('an agent that ends does not give a pod the whole grace of its deletion', limit, async (t) => {
  const clock = createFakeClock();
  const harness = await startNodeHarness(t, { clock });
  const [set, told] = ['set', 'told'].map((name) => join(harness.directory, name));
  const script = `trap ": > ${told}" TERM; : > ${set}; while :; do sleep 0.1; done`;
  const spec = { terminationGracePeriodSeconds: 3600, containers: [app('sh', '-c', script)] };
  await harness.run('deaf', spec);
  await harness.until('deaf', () => existsSync(set ?? ''));
  await harness.api.send({ method: 'DELETE', path: `${pods}/deaf` });
  await harness.until('deaf', () => existsSync(told ?? ''));
  const stopped = harness.stopNode();
  await clock.settle();
  await clock.advance(2000);
  await stopped;
  const { status } = await harness.api.send({ method: 'GET', path: `${pods}/deaf` });
  assert.equal(status, 404);
});
