import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../../observe/log.ts';
import { defaultSecurity } from '../../pod/container-security.ts';
import type { ContainerToRun, Runtime } from '../runtime.ts';
import { createProcessRuntime, type ProcessRuntimeOptions } from './run-runtime.ts';
import { markProcess } from './write-process-marks.ts';

type TestRuntime = {
  readonly runtime: Runtime;
  readonly directory: string;
  readonly logText: () => string;
};

async function startRuntime(
  t: TestContext,
  more: Partial<ProcessRuntimeOptions> = {},
): Promise<TestRuntime> {
  const directory = mkdtempSync(join(tmpdir(), 'runtime-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const runtime = await createProcessRuntime({
    images: { greeter: { command: ['echo', 'hello'] } },
    directory,
    now: Date.now,
    log: silentLog,
    version: '1',
    ...more,
  });
  const logText = (): string =>
    readFileSync(join(directory, 'log/0.log'), 'utf8').replace(/^\S+ /gm, '');
  return { runtime, directory, logText };
}

let serial = 0;

function example({ directory }: TestRuntime, more: Partial<ContainerToRun>): ContainerToRun {
  serial += 1;
  const own = join(directory, `container-${serial}`);
  mkdirSync(own);
  return {
    id: `id${serial}`,
    pod: { uid: 'u', namespace: 'default', name: 'web' },
    name: 'app',
    image: 'process',
    command: [],
    args: [],
    variables: {},
    mounts: [],
    security: defaultSecurity,
    directory: own,
    logPath: join(directory, 'log/0.log'),
    hasStdin: false,
    ...more,
  };
}

/** Resolves once the log has it, which includes output before the first listener. */
async function said({ logText }: TestRuntime, what: string): Promise<void> {
  while (!logText().includes(what)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const shell = (script: string): Partial<ContainerToRun> => ({ command: ['sh', '-c', script] });

test('startContainer() runs a container with its variables and directory, and reports its exit code', async (t) => {
  const setup = await startRuntime(t);
  const container = example(setup, {
    ...shell('echo "$NAME in $PWD"; echo bad >&2; exit 3'),
    variables: { NAME: 'web' },
    workingDir: '/usr',
  });
  const running = await setup.runtime.startContainer(container);
  assert.deepEqual(await running.ended, { exitCode: 3 });
  assert.equal(setup.logText(), 'stdout F web in /usr\nstderr F bad\n');
});

test('startContainer() mounts volumes at paths that the host does not have', async (t) => {
  const setup = await startRuntime(t);
  const volume = join(setup.directory, 'volume');
  mkdirSync(volume);
  writeFileSync(join(volume, 'key'), 'value\n');
  const hosts = join(setup.directory, 'hosts');
  writeFileSync(hosts, '10.0.0.1 web\n');
  const paths = ['/fairlead-test/data', '/etc/fairlead-test'];
  const script = `cat ${paths.join('/key ')}/key /etc/hosts; ls /etc/passwd; echo more > ${paths[0]}/new; pwd; hostname`;
  const running = await setup.runtime.startContainer(
    example(setup, {
      ...shell(script),
      hostname: 'web-0',
      workingDir: '/fairlead-test/work',
      mounts: [
        ...paths.map((path, index) => ({ source: volume, path, isReadOnly: index === 1 })),
        { source: hosts, path: '/etc/hosts', isReadOnly: false },
      ],
    }),
  );
  assert.deepEqual(await running.ended, { exitCode: 0 });
  const lines = ['value', 'value', '10.0.0.1 web', '/etc/passwd', '/fairlead-test/work', 'web-0'];
  assert.equal(setup.logText(), lines.map((line) => `stdout F ${line}\n`).join(''));
  assert.equal(readFileSync(join(volume, 'new'), 'utf8'), 'more\n');
  assert.equal(existsSync('/fairlead-test'), false);
});

test('signal() reaches all processes of a container', async (t) => {
  const setup = await startRuntime(t);
  const running = await setup.runtime.startContainer(
    example(setup, shell('sleep 1000 & echo up; wait')),
  );
  await said(setup, 'up');
  running.signal('SIGTERM');
  assert.deepEqual(await running.ended, { exitCode: 143 });
});

test('enter() starts a program with the mounts and variables of the container', async (t) => {
  const setup = await startRuntime(t);
  const volume = join(setup.directory, 'volume');
  mkdirSync(volume);
  writeFileSync(join(volume, 'key'), 'value');
  const running = await setup.runtime.startContainer(
    example(setup, {
      ...shell('sleep 1000'),
      variables: { COLOR: 'red' },
      mounts: [{ source: volume, path: '/fairlead-test', isReadOnly: true }],
    }),
  );
  const entered = await running.enter(['sh', '-c', 'cat /fairlead-test/key; echo " $COLOR"']);
  assert.equal(await text(entered.output), 'value red\n');
  running.signal('SIGKILL');
  assert.equal((await running.ended).exitCode, 137);
});

test('imageProblem() requires a command in the image map or the container', async (t) => {
  const setup = await startRuntime(t);
  const running = await setup.runtime.startContainer(
    example(setup, { image: 'greeter:2', args: ['you'] }),
  );
  await running.ended;
  assert.equal(setup.logText(), 'stdout F hello you\n');
  assert.match(
    setup.runtime.imageProblem({ image: 'nginx', command: [] }) ?? '',
    /"nginx" is not known here/,
  );
  assert.equal(setup.runtime.imageProblem({ image: 'nginx', command: ['nginx'] }), undefined);
  await assert.rejects(setup.runtime.startContainer(example(setup, {})), {
    reason: 'CreateContainerError',
    message: 'no command specified',
  });
  await assert.rejects(
    setup.runtime.startContainer(example(setup, { command: ['no-such-program'] })),
    {
      reason: 'RunContainerError',
      message: 'exec: "no-such-program": executable file not found in $PATH',
    },
  );
});

test('endLeftovers() kills only containers of a previous run', async (t) => {
  const setup = await startRuntime(t);
  const child = spawn('sleep', ['1000'], { detached: true });
  markProcess(join(setup.directory, 'processes'), 'old', child.pid ?? 0);
  writeFileSync(
    join(setup.directory, 'processes/other.json'),
    JSON.stringify({ pid: process.pid, startTicks: '1', boot: 'x' }),
  );
  assert.equal(await setup.runtime.endLeftovers(), 1);
  await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL');
});

const bomb =
  'n=0; while [ $n -lt 200 ]; do sleep 1000 >/dev/null 2>&1 & n=$((n+1)); done; echo not stopped';

test('maxPids limits all containers of a pod together', async (t) => {
  const setup = await startRuntime(t, { maxPids: 40 });
  const quiet = await setup.runtime.startContainer(example(setup, shell('sleep 1000')));
  const running = await setup.runtime.startContainer(example(setup, shell(bomb)));
  const end = await running.ended;
  assert.notEqual(end.exitCode, 0);
  assert.match(setup.logText(), /Cannot fork|Resource temporarily unavailable/);
  assert.doesNotMatch(setup.logText(), /not stopped/);
  // Another pod has its own.
  const other = { uid: 'other', namespace: 'default', name: 'other' };
  const free = await setup.runtime.startContainer(
    example(setup, { ...shell('sleep 0 & wait; echo fine'), pod: other }),
  );
  assert.deepEqual(await free.ended, { exitCode: 0 });
  quiet.signal('SIGKILL');
  await quiet.ended;
});

test('maxPids includes programs started by enter()', async (t) => {
  const setup = await startRuntime(t, { maxPids: 40 });
  const running = await setup.runtime.startContainer(example(setup, shell('sleep 1000')));
  const entered = await running.enter(['sh', '-c', bomb]);
  const said = text(entered.errors ?? entered.output);
  entered.output.resume();
  assert.notEqual((await entered.ended).exitCode, 0);
  assert.match(await said, /Cannot fork|Resource temporarily unavailable/);
  running.signal('SIGKILL');
  await running.ended;
});
