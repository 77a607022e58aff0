// Limits of pods: disk, memory volumes, and processes.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const asRoot = { ...limit, skip: process.getuid?.() === 0 ? false : 'needs root' };
const app = (script: string, more: object = {}): object => ({
  ...{ name: 'app', image: 'process', command: ['sh', '-c', script] },
  volumeMounts: [{ name: 'files', mountPath: '/files' }],
  ...more,
});
const write = (mebibytes: number, path: string): string =>
  `dd if=/dev/zero of=${path} bs=1M count=${mebibytes} 2>/dev/null; echo written; exec sleep 1000`;

async function hasSaid({ api, until }: NodeHarness, name: string, word: string): Promise<void> {
  await until(name, ({ status }) => status.containerStatuses?.[0]?.containerID !== undefined);
  for (let said = ''; !said.includes(word); )
    said = String((await api.send({ method: 'GET', path: `${pods}/${name}/log` })).body);
}

const storage = { limits: { 'ephemeral-storage': '2Mi' } };
const evictions: readonly (readonly [string, object, string])[] = [
  [
    'an emptyDir over its limit',
    {
      volumes: [{ name: 'files', emptyDir: { sizeLimit: '1Mi' } }],
      containers: [app(write(3, '/files/x'))],
    },
    'Usage of EmptyDir volume "files" exceeds the limit "1Mi". ',
  ],
  [
    'more on the disk than its containers may have',
    {
      volumes: [{ name: 'files', emptyDir: {} }],
      containers: [app(write(3, '/files/x'), { resources: storage })],
    },
    'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
  ],
  [
    'more in its own /tmp than its containers may have',
    {
      volumes: [{ name: 'files', emptyDir: {} }],
      containers: [app(write(3, '/tmp/x'), { resources: storage })],
    },
    'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
  ],
];

for (const [name, spec, message] of evictions) {
  test(`a pod with ${name} is evicted, and its volumes are emptied`, asRoot, async (t) => {
    const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
    const harness = await startNodeHarness(t, { clock });
    await harness.run('web', { terminationGracePeriodSeconds: 1, ...spec });
    await hasSaid(harness, 'web', 'written');
    const before = await harness.api.get<Pod>(`${pods}/web`);
    assert.equal(before.status.phase, 'Running');
    await clock.advance(10_000);
    const { status, metadata } = await harness.until('web', (one) => one.status.phase === 'Failed');
    assert.deepEqual([status.reason, status.message], ['Evicted', message]);
    await harness.waitForEvent('web', `Evicted: ${message}`);
    const volumes = join(harness.directory, 'pods', metadata.uid ?? '', 'volumes');
    await harness.until('web', () => !existsSync(volumes) || readdirSync(volumes).length === 0);
  });
}

test('a pod within its limits keeps running', asRoot, async (t) => {
  const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const harness = await startNodeHarness(t, { clock });
  await harness.run('web', {
    volumes: [{ name: 'files', emptyDir: { sizeLimit: '4Mi' } }],
    containers: [app(write(3, '/files/x'))],
  });
  await hasSaid(harness, 'web', 'written');
  await clock.advance(60_000);
  const { status } = await harness.api.get<Pod>(`${pods}/web`);
  assert.deepEqual([status.phase, status.reason], ['Running', undefined]);
});

test('an emptyDir in memory is limited by the memory of its pod', asRoot, async (t) => {
  const harness = await startNodeHarness(t);
  const script = 'df -k /files | tail -n 1 | while read _ size _; do echo size $size; done';
  await harness.run('web', {
    restartPolicy: 'Never',
    volumes: [{ name: 'files', emptyDir: { medium: 'Memory' } }],
    containers: [app(script, { resources: { limits: { memory: '8Mi' } } })],
  });
  await hasSaid(harness, 'web', `size ${8 * 1024}`);
  await harness.api.delete(`${pods}/web`);
  await harness.isGone('web');
});
