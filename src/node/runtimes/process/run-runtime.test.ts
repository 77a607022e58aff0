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

type Place = {
  readonly runtime: Runtime;
  readonly directory: string;
  readonly logText: () => string;
};

async function startRuntime(
  t: TestContext,
  more: Partial<ProcessRuntimeOptions> = {},
): Promise<Place> {
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

function example({ directory }: Place, more: Partial<ContainerToRun>): ContainerToRun {
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

/** Once the log has it: output that came before anyone listened is in it too. */
async function said({ logText }: Place, what: string): Promise<void> {
  while (!logText().includes(what)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const shell = (script: string): Partial<ContainerToRun> => ({ command: ['sh', '-c', script] });

test('a container runs with its variables and directory, and its exit code is told', async (t) => {
  const place = await startRuntime(t);
  const container = example(place, {
    ...shell('echo "$NAME in $PWD"; echo bad >&2; exit 3'),
    variables: { NAME: 'web' },
    workingDir: '/usr',
  });
  const running = await place.runtime.startContainer(container);
  assert.deepEqual(await running.ended, { exitCode: 3 });
  assert.equal(place.logText(), 'stdout F web in /usr\nstderr F bad\n');
});

test('volumes appear at places that the host does not have, and the host stays as it was', async (t) => {
  const place = await startRuntime(t);
  const volume = join(place.directory, 'volume');
  mkdirSync(volume);
  writeFileSync(join(volume, 'key'), 'value\n');
  const hosts = join(place.directory, 'hosts');
  writeFileSync(hosts, '10.0.0.1 web\n');
  const paths = ['/fairlead-test/data', '/etc/fairlead-test'];
  const script = `cat ${paths.join('/key ')}/key /etc/hosts; ls /etc/passwd; echo more > ${paths[0]}/new; pwd; hostname`;
  const running = await place.runtime.startContainer(
    example(place, {
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
  assert.equal(place.logText(), lines.map((line) => `stdout F ${line}\n`).join(''));
  assert.equal(readFileSync(join(volume, 'new'), 'utf8'), 'more\n');
  assert.equal(existsSync('/fairlead-test'), false);
});

test('a signal reaches all processes, and the end says which it was', async (t) => {
  const place = await startRuntime(t);
  const running = await place.runtime.startContainer(
    example(place, shell('sleep 1000 & echo up; wait')),
  );
  await said(place, 'up');
  running.signal('SIGTERM');
  assert.deepEqual(await running.ended, { exitCode: 143 });
});

test('a program entered later sees what the container sees', async (t) => {
  const place = await startRuntime(t);
  const volume = join(place.directory, 'volume');
  mkdirSync(volume);
  writeFileSync(join(volume, 'key'), 'value');
  const running = await place.runtime.startContainer(
    example(place, {
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

test('images of the map have a command; others need one', async (t) => {
  const place = await startRuntime(t);
  const running = await place.runtime.startContainer(
    example(place, { image: 'greeter:2', args: ['you'] }),
  );
  await running.ended;
  assert.equal(place.logText(), 'stdout F hello you\n');
  assert.match(
    place.runtime.imageProblem({ image: 'nginx', command: [] }) ?? '',
    /"nginx" is not known here/,
  );
  assert.equal(place.runtime.imageProblem({ image: 'nginx', command: ['nginx'] }), undefined);
  await assert.rejects(place.runtime.startContainer(example(place, {})), {
    reason: 'CreateContainerError',
    message: 'no command specified',
  });
  await assert.rejects(
    place.runtime.startContainer(example(place, { command: ['no-such-program'] })),
    {
      reason: 'RunContainerError',
      message: 'exec: "no-such-program": executable file not found in $PATH',
    },
  );
});

test('what an earlier run left is ended, and nothing else', async (t) => {
  const place = await startRuntime(t);
  const child = spawn('sleep', ['1000'], { detached: true });
  markProcess(join(place.directory, 'processes'), 'old', child.pid ?? 0);
  writeFileSync(
    join(place.directory, 'processes/other.json'),
    JSON.stringify({ pid: process.pid, startTicks: '1', boot: 'x' }),
  );
  assert.equal(await place.runtime.endLeftovers(), 1);
  await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL');
});

const bomb =
  'n=0; while [ $n -lt 200 ]; do sleep 1000 >/dev/null 2>&1 & n=$((n+1)); done; echo not stopped';

test('a pod that forks without end is stopped, with all its containers together', async (t) => {
  const place = await startRuntime(t, { maxPids: 40 });
  const quiet = await place.runtime.startContainer(example(place, shell('sleep 1000')));
  const running = await place.runtime.startContainer(example(place, shell(bomb)));
  const end = await running.ended;
  assert.notEqual(end.exitCode, 0);
  assert.match(place.logText(), /Cannot fork|Resource temporarily unavailable/);
  assert.doesNotMatch(place.logText(), /not stopped/);
  // Another pod has its own.
  const other = { uid: 'other', namespace: 'default', name: 'other' };
  const free = await place.runtime.startContainer(
    example(place, { ...shell('sleep 0 & wait; echo fine'), pod: other }),
  );
  assert.deepEqual(await free.ended, { exitCode: 0 });
  quiet.signal('SIGKILL');
  await quiet.ended;
});

test('what is started beside a container counts as well', async (t) => {
  const place = await startRuntime(t, { maxPids: 40 });
  const running = await place.runtime.startContainer(example(place, shell('sleep 1000')));
  const entered = await running.enter(['sh', '-c', bomb]);
  const said = text(entered.errors ?? entered.output);
  entered.output.resume();
  assert.notEqual((await entered.ended).exitCode, 0);
  assert.match(await said, /Cannot fork|Resource temporarily unavailable/);
  running.signal('SIGKILL');
  await running.ended;
});
