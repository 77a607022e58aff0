// Limits of containers with real control groups: memory that is not there, what escapes the group of processes, and what is left.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { defaultSecurity } from '../../src/node/pod/container-security.ts';
import { createProcessRuntime } from '../../src/node/runtimes/process/run-runtime.ts';
import type { ContainerToRun, RunningContainer } from '../../src/node/runtimes/runtime.ts';
import { createLog } from '../../src/observe/log.ts';

const top = '/sys/fs/cgroup';
let directory = '';
before(() => {
  if (!existsSync(join(top, 'cgroup.controllers'))) {
    mkdirSync(top, { recursive: true });
    const { stderr } = spawnSync('mount', ['-t', 'cgroup2', 'cgroup2', top], { encoding: 'utf8' });
    assert.equal(stderr, '');
  }
  directory = mkdtempSync(join(tmpdir(), 'limits-'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

const open = (maxPids?: number) =>
  createProcessRuntime({
    images: {},
    directory,
    now: Date.now,
    log: createLog('warn'),
    version: 'test',
    ...(maxPids === undefined ? {} : { maxPids }),
  });

let started = 0;
async function run(
  command: readonly string[],
  resources: ContainerToRun['resources'],
  maxPids?: number,
): Promise<RunningContainer> {
  started += 1;
  const own = join(directory, `container-${started}`);
  mkdirSync(own);
  const runtime = await open(maxPids);
  return runtime.startContainer({
    id: `container-${started}`,
    pod: { uid: 'u', namespace: 'default', name: 'p' },
    name: 'c',
    image: 'process',
    command,
    args: [],
    variables: {},
    mounts: [],
    security: defaultSecurity,
    directory: own,
    logPath: join(own, 'log'),
    hasStdin: false,
    ...(resources === undefined ? {} : { resources }),
  });
}

const groups = (): readonly string[] =>
  readdirSync(top).filter((name) => name.startsWith('fairlead-'));
const groupOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/cgroup`, 'utf8').replace(/^0::/, '').trim();

test('a container has the limits of its resources, and its group is removed with it', async () => {
  const container = await run(['sleep', '1000'], {
    limits: { cpu: '250m', memory: '64Mi' },
    requests: { cpu: '100m' },
  });
  const group = join(top, groupOf(container.pid));
  const read = (file: string): string => readFileSync(join(group, file), 'utf8').trim();
  assert.deepEqual(['cpu.max', 'cpu.weight', 'memory.max', 'memory.oom.group'].map(read), [
    '25000 100000',
    '4',
    String(64 * 1024 ** 2),
    '1',
  ]);
  container.signal('SIGTERM');
  assert.deepEqual(await container.ended, { exitCode: 143 });
  assert.deepEqual(groups(), []);
});

test('change() sets other limits, but not less memory than is in use', async () => {
  const container = await run(['sleep', '1000'], { limits: { cpu: '250m', memory: '64Mi' } });
  const group = join(top, groupOf(container.pid));
  const read = (file: string): string => readFileSync(join(group, file), 'utf8').trim();
  container.setResources({ limits: { cpu: '500m', memory: '32Mi' } });
  assert.deepEqual(['cpu.max', 'memory.max'].map(read), ['50000 100000', String(32 * 1024 ** 2)]);
  assert.throws(
    () => container.setResources({ limits: { cpu: '1', memory: '1Ki' } }),
    /^Error: memory limit \(1024\) below current usage \(\d+\)$/,
  );
  assert.deepEqual(['cpu.max', 'memory.max'].map(read), ['50000 100000', String(32 * 1024 ** 2)]);
  container.signal('SIGKILL');
  await container.ended;
  const free = await run(['sleep', '1000'], undefined);
  assert.throws(() => free.setResources({ limits: { cpu: '1' } }), /when it starts again$/);
  free.signal('SIGKILL');
  await free.ended;
});

test('a container over its memory limit is OOM killed', async () => {
  const eat = 'a=x; while :; do a=$a$a; done';
  const container = await run(['sh', '-c', eat], { limits: { memory: '32Mi' } });
  assert.deepEqual(await container.ended, { exitCode: 137, signal: 9, isOutOfMemory: true });
  assert.deepEqual(groups(), []);
});

test('a process that leaves the process group stays in the control group', async () => {
  const container = await run(['sh', '-c', 'setsid sleep 1000 & sleep 1000'], {
    limits: { memory: '64Mi' },
  });
  container.signal('SIGKILL');
  await container.ended;
  assert.deepEqual(groups(), []);
});

test('a container without limits has no group; the next run removes leftovers', async () => {
  const free = await run(['sleep', '1000'], undefined);
  assert.deepEqual(groups(), []);
  const held = await run(['sleep', '1000'], { limits: { memory: '64Mi' } });
  assert.equal(groups().length, 1);
  // The next run of a killed agent; what this one had started is ended by it.
  await (await open()).endLeftovers();
  assert.deepEqual(groups(), []);
  assert.equal((await held.ended).exitCode, 137);
  assert.equal((await free.ended).exitCode, 137);
});

test('the containers of a pod share a limit of processes, and none escapes its own limits by it', async () => {
  const maxPids = 40;
  const quiet = await run(['sleep', '1000'], { limits: { memory: '64Mi' } }, maxPids);
  const pod = join(top, groupOf(quiet.pid), '..');
  assert.equal(readFileSync(join(pod, 'pids.max'), 'utf8').trim(), String(maxPids));
  assert.equal(
    readFileSync(join(top, groupOf(quiet.pid), 'memory.max'), 'utf8').trim(),
    String(64 * 1024 ** 2),
  );
  const fork = 'n=0; while [ $n -lt 200 ]; do sleep 1000 >/dev/null 2>&1 & n=$((n+1)); done';
  const bomb = await run(['sh', '-c', fork], undefined, maxPids);
  assert.notEqual((await bomb.ended).exitCode, 0);
  quiet.setResources({ limits: { memory: '128Mi' } });
  quiet.signal('SIGKILL');
  await quiet.ended;
  assert.deepEqual(groups(), []);
});
