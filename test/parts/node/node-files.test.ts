// What containers find of volumes and files, and what the agent shows of its own.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
/** An ordinary user has one user and mounts nothing outside of containers. */
const asRoot = { ...limit, skip: process.getuid?.() === 0 ? false : 'needs root' };
const waiting = ({ status }: Pod) => status.containerStatuses?.[0]?.state.waiting;
const terminated = ({ status }: Pod) => status.containerStatuses?.[0]?.state.terminated;

type Refused = {
  readonly name: string;
  readonly value: string;
  readonly subPathExpr?: string;
  readonly message: string;
};

const refused: readonly Refused[] = [
  {
    name: 'absolute',
    value: '/etc',
    message: 'error SubPath `/etc` must not be an absolute path',
  },
  { name: 'empty', value: '', message: 'missing value for PLACE' },
  { name: 'unknown', value: 'x', subPathExpr: '$(OTHER)', message: 'missing value for OTHER' },
  {
    name: 'above',
    value: '../x',
    message: "unable to provision SubPath `../x`: must not contain '..'",
  },
];

for (const { name, value, subPathExpr = '$(PLACE)', message } of refused) {
  test(`a subPathExpr with an ${name} value is a container config error`, limit, async (t) => {
    const harness = await startNodeHarness(t);
    await harness.run('web', {
      volumes: [{ name: 'files', emptyDir: {} }],
      containers: [
        {
          ...{ name: 'app', image: 'process', command: ['true'] },
          env: [{ name: 'PLACE', value }],
          volumeMounts: [{ name: 'files', mountPath: '/files', subPathExpr }],
        },
      ],
    });
    const pod = await harness.until('web', (one) => waiting(one)?.message !== undefined);
    assert.deepEqual(waiting(pod), { reason: 'CreateContainerConfigError', message });
    await harness.waitForEvent('web', `Failed: Error: ${message}`);
  });
}

const once = (script: string, more: object = {}): object => ({
  restartPolicy: 'Never',
  containers: [{ name: 'app', image: 'process', command: ['sh', '-c', script], ...more }],
});

async function endOf(harness: NodeHarness, spec: object): Promise<ReturnType<typeof terminated>> {
  await harness.run('web', spec);
  return terminated(await harness.until('web', (one) => terminated(one) !== undefined));
}

test(
  'a container of another user writes its termination message, and reads its hosts file',
  asRoot,
  async (t) => {
    const script = 'cat /etc/hosts /etc/resolv.conf >/dev/null && echo bye >/dev/termination-log';
    const asUser = { securityContext: { runAsUser: 4321, runAsGroup: 4321 } };
    const end = await endOf(await startNodeHarness(t), once(script, asUser));
    assert.deepEqual([end?.exitCode, end?.message], [0, 'bye\n']);
  },
);

test('an emptyDir in memory is a tmpfs of its size limit', asRoot, async (t) => {
  const script =
    'stat -fc %T /memory; dd if=/dev/zero of=/memory/x bs=1M count=3 2>/dev/null && exit 9';
  const memory = { medium: 'Memory', sizeLimit: '2Mi' };
  const harness = await startNodeHarness(t);
  const end = await endOf(harness, {
    ...once(`{ ${script}; du -sm /memory; } >/dev/termination-log`, {
      volumeMounts: [{ name: 'memory', mountPath: '/memory' }],
    }),
    volumes: [{ name: 'memory', emptyDir: memory }],
  });
  assert.deepEqual([end?.exitCode, end?.message], [0, 'tmpfs\n2\t/memory\n']);
  await harness.api.delete(`${pods}/web`);
  await harness.isGone('web');
});

test('an image volume is refused with its container', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await harness.run('web', {
    volumes: [{ name: 'files', image: { reference: 'example.com/files:1' } }],
    containers: [
      {
        ...{ name: 'app', image: 'process', command: ['true'] },
        volumeMounts: [{ name: 'files', mountPath: '/files' }],
      },
    ],
  });
  const pod = await harness.until('web', (one) => waiting(one)?.message !== undefined);
  const problem = 'volume "files" cannot be mounted: this node runs processes and has no images';
  assert.deepEqual(waiting(pod), { reason: 'ErrImagePull', message: problem });
  await harness.waitForEvent(
    'web',
    `Failed: Failed to pull image "example.com/files:1": ${problem}`,
  );
});

test('a pod on the network of its node has its host name', limit, async (t) => {
  const end = await endOf(await startNodeHarness(t), {
    hostNetwork: true,
    ...once('echo $(hostname) $HOSTNAME $(cat /etc/hostname) >/dev/termination-log'),
  });
  assert.equal(end?.message, 'node-1 node-1 node-1\n');
});

const requestPaths = (t: TestContext) => async (paths: readonly string[]) => {
  const harness = await startNodeHarness(t);
  await endOf(harness, once('echo hello'));
  const uid = (await harness.until('web', () => true)).metadata.uid ?? '';
  const get = (path: string) =>
    harness.api.send({
      method: 'GET',
      path: `/api/v1/nodes/node-1/proxy/logs${path.replace('UID', uid)}`,
    });
  return Promise.all(paths.map(get));
};

test('the agent serves log files, and nothing else', limit, async (t) => {
  const answers = await requestPaths(t)([
    '/',
    '/pods/',
    '/pods/default_web_UID/app/0.log',
    '/pods/default_web_UID/app',
    '/pods/..%2f..%2fpods/',
    '/other',
    '/pods/%',
    '/pods/default_web_UID/app/0.log/',
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 301, 404, 404, 400, 404],
  );
  const texts = answers.map(({ body }) => String(body));
  assert.match(texts[0] ?? '', /<a href="pods\/">pods\/<\/a>/);
  assert.match(texts[1] ?? '', /<a href="default_web_[^"]*\/">/);
  assert.match(texts[2] ?? '', /stdout F hello\n$/);
});
