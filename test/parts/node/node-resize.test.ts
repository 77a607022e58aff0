// Resizes of running pods: in place, or with a restart if resizePolicy says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../../../src/kinds/pod/pod-status.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { unpackKubectl } from '../../lanes/unpack-kubectl.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { openKubectl } from '../harness/kubectl.ts';
import { pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const quantities = (cpu: string, memory = '32Mi') => ({
  limits: { cpu: '1', memory: '256Mi' },
  requests: { cpu, memory },
});
const container = (more: object = {}) => ({
  name: 'app',
  image: 'process',
  command: ['sleep', '1000'],
  resources: quantities('10m'),
  ...more,
});

const resize = (api: ApiClient, name: string, resources: object) =>
  api.send({
    method: 'PATCH',
    path: `${pods}/${name}/resize`,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { spec: { containers: [{ name: 'app', resources }] } },
  });
const statusIn = ({ status }: Pod): ContainerStatus | undefined => status.containerStatuses?.[0];

test('a running container is resized in place', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await harness.run('sized', { containers: [container()] });
  const before = await harness.until('sized', isPodReady);
  assert.deepEqual(statusIn(before)?.resources, quantities('10m'));
  assert.equal((await resize(harness.api, 'sized', quantities('20m'))).status, 200);
  const after = await harness.until(
    'sized',
    (pod) => statusIn(pod)?.resources?.requests?.cpu === '20m',
  );
  assert.deepEqual(statusIn(after)?.allocatedResources, { cpu: '20m', memory: '32Mi' });
  assert.equal(statusIn(after)?.containerID, statusIn(before)?.containerID);
  assert.deepEqual([statusIn(after)?.restartCount, after.status.observedGeneration], [0, 2]);
  const resized = { containers: [{ name: 'app', resources: quantities('20m') }], generation: 2 };
  await harness.waitForEvent(
    'sized',
    `ResizeCompleted: Pod resize completed: ${JSON.stringify(resized)}`,
  );
});

test('a container with resizePolicy RestartContainer restarts', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  await harness.run('renewed', {
    terminationGracePeriodSeconds: 1,
    containers: [container({ resizePolicy })],
  });
  await harness.until('renewed', isPodReady);
  assert.equal((await resize(harness.api, 'renewed', quantities('10m', '64Mi'))).status, 200);
  const after = await harness.until(
    'renewed',
    (pod) => isPodReady(pod) && statusIn(pod)?.restartCount === 1,
  );
  assert.deepEqual(statusIn(after)?.resources, quantities('10m', '64Mi'));
  await harness.waitForEvent('renewed', 'Killing: Container app resize requires restart');
});

test('a resize beyond the node is refused', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await harness.run('huge', {
    containers: [container({ resources: { requests: { cpu: '1m' } } })],
  });
  await harness.until('huge', isPodReady);
  const { status, body } = await resize(harness.api, 'huge', { requests: { cpu: '100000' } });
  assert.equal(status, 403);
  assert.match(body.message ?? '', /node didn't have enough allocatable resources: cpu, requested/);
});

test('kubectl patches and edits the resources of a pod', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const env = { KUBE_EDITOR: 'sed -i s/20m/30m/' };
  const program = { name: 'kubectl', path: await unpackKubectl(), env };
  const kubectl = openKubectl(t, program, harness.server.server.address.port);
  const does = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await kubectl.run([...args, '--subresource', 'resize']);
    assert.equal(code, 0, stderr);
  };
  const until = (cpu: string) =>
    harness.until('sized', (pod) => statusIn(pod)?.resources?.requests?.cpu === cpu);
  await harness.run('sized', { containers: [container()] });
  await harness.until('sized', isPodReady);
  const patch = { spec: { containers: [{ name: 'app', resources: quantities('20m') }] } };
  await does('patch', 'pod', 'sized', '--patch', JSON.stringify(patch));
  await until('20m');
  await does('edit', 'pod', 'sized');
  assert.equal((await until('30m')).metadata.generation, 3);
});
