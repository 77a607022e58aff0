// A server whose storage is not what it should be: each case is a clear refusal, or a state that /readyz shows.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEmbeddedStore } from '../../../src/storage/backends/embedded/store.ts';
import { isStoreError } from '../../../src/storage/store-error.ts';
import { root as project } from '../../lanes/running-server.ts';
import { startMemoryServer } from '../harness/memory-server.ts';
import { runCommand } from '../harness/run-command.ts';
import { etcdMissing, startEtcd } from '../harness/running-etcd.ts';

const timeout = 120_000;
const mounted = process.env.FAIRLEAD_SMALL_DISK;
const now = (): number => Date.now();

if (mounted === undefined) outside();
else {
  await (process.env.FAIRLEAD_SMALL_CASE === 'start' ? startSmall(mounted) : fillUp(mounted));
  process.stdout.write('done');
}

function outside(): void {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-files-'));
  after(() => rmSync(directory, { recursive: true }));
  refuseFiles(directory);
  refuseOpenKeys(directory);
  smallDisks();
  endWhenGone(directory);
  reportEtcd(directory);
}

function refuseFiles(directory: string): void {
  const garbage = Buffer.alloc(40_000, 'not a store ');
  const cases: readonly [string, string, (store: string) => void][] = [
    ['an empty file', 'it is empty', (store) => writeFileSync(join(store, 'store.mdb'), '')],
    ...[1, 8, 9, 4096].map(
      (bytes) =>
        [
          `${bytes} zeros`,
          'it holds nothing but zeros',
          (store: string) => writeFileSync(join(store, 'store.mdb'), Buffer.alloc(bytes)),
        ] as [string, string, (store: string) => void],
    ),
    [
      'garbage',
      'it was not made by this program',
      (store) => writeFileSync(join(store, 'store.mdb'), garbage),
    ],
    ['a directory', 'it is a directory', (store) => mkdirSync(join(store, 'store.mdb'))],
    [
      'a link to nothing',
      'it is a symbolic link',
      (store) => symlinkSync('/nowhere/x', join(store, 'store.mdb')),
    ],
    [
      'a pipe',
      'it is not a regular file',
      (store) => void spawnSync('mkfifo', [join(store, 'store.mdb')]),
    ],
    [
      'a directory for the table of readers',
      'it is a directory',
      (store) => mkdirSync(join(store, 'store.mdb-lock')),
    ],
    [
      'a file for the directory',
      'it is a file',
      (store) => {
        rmSync(store, { recursive: true });
        writeFileSync(store, '');
      },
    ],
  ];
  for (const [n, [name, expected, make]] of cases.entries()) {
    test(`a server refuses ${name}`, { timeout }, async () => {
      const data = join(directory, `case-${n}`);
      mkdirSync(join(data, 'store'), { recursive: true, mode: 0o700 });
      make(join(data, 'store'));
      const { code, err } = await runCommand(
        `apiserver --data-dir ${data} --bind-address 127.0.0.1 --secure-port 0`,
        directory,
      );
      assert.deepEqual([code, err.split('\n').length], [1, 2], err);
      assert.ok(err.startsWith('error: Cannot ') && err.includes(expected), err);
    });
  }
}

function refuseOpenKeys(directory: string): void {
  for (const file of ['ca.key', 'apiserver.key', 'admin.key', 'sa.key']) {
    test(`a server refuses a ${file} that everybody may read`, { timeout }, async () => {
      const data = join(directory, `open-${file}`);
      const flags = ['apiserver', '--data-dir', data];
      const { child } = await start(flags);
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      chmodSync(join(data, 'pki', file), 0o644);
      const { code, err } = await runCommand(
        `${flags.join(' ')} --bind-address 127.0.0.1 --secure-port 0`,
        directory,
      );
      assert.deepEqual([code, err.split('\n').length], [1, 2], err);
      assert.ok(err.includes(`pki/${file}": it holds a private key that others may read`), err);
    });
  }
}

/** This file again, with a small file system on the directory that it finds in the environment. */
function mounting(size: string, which: string) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-small-'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const script = `mount -t tmpfs -o size=${size} tmpfs "$FAIRLEAD_SMALL_DISK" && exec ${which === 'try' ? 'true' : `${process.execPath} ${fileURLToPath(import.meta.url)}`}`;
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const ran = spawnSync('unshare', [...asRoot, '--mount', 'sh', '-c', script], {
    env: { ...env, FAIRLEAD_SMALL_DISK: directory, FAIRLEAD_SMALL_CASE: which },
    encoding: 'utf8',
  });
  rmSync(directory, { recursive: true });
  return ran;
}

function smallDisks(): void {
  const canMount = mounting('1m', 'try').status === 0;
  const skip = canMount ? false : 'needs the right to mount a tmpfs in a namespace of its own';
  test('/readyz says that the disk is full, /livez does not, and both are well when there is room', {
    skip,
    timeout,
  }, () => {
    const { status, stdout, stderr } = mounting('12m', 'run');
    assert.deepEqual([status, stdout], [0, 'done'], stderr);
  });
  for (const size of ['4k', '8k', '16k', '20k', '24k', '32k', '40k', '64k', '128k']) {
    test(`a store on a disk of ${size} opens or says that there is no space`, {
      skip,
      timeout,
    }, () => {
      const { status, signal, stdout, stderr } = mounting(size, 'start');
      assert.deepEqual([status, signal, stdout], [0, null, 'done'], stderr);
    });
  }
}

async function startSmall(directory: string): Promise<void> {
  try {
    const store = await openEmbeddedStore({ directory: join(directory, 'store'), now });
    await store.close();
  } catch (error) {
    assert.ok(error instanceof Error && isStoreError(error), String(error));
    assert.match(error.message, /there is no space left/);
  }
}

async function fillUp(directory: string): Promise<void> {
  const filler = join(directory, 'filler');
  writeFileSync(filler, Buffer.alloc(4 << 20));
  const store = await openEmbeddedStore({ directory: join(directory, 'store'), now });
  const { api, stop } = await startMemoryServer({ store });
  const status = async (path: string): Promise<number> =>
    (await api.send({ method: 'GET', path })).status;
  const write = async (name: string): Promise<number> => {
    const body = { metadata: { name }, data: { k: 'x'.repeat(300_000) } };
    const path = '/api/v1/namespaces/default/configmaps';
    return (await api.send({ method: 'POST', path, body })).status;
  };
  assert.equal(await status('/readyz'), 200);
  let last = 201;
  for (let n = 0; last === 201; n += 1) last = await write(`c${n}`);
  assert.equal(last, 507);
  assert.deepEqual(
    [await status('/readyz'), await status('/readyz/storage'), await status('/livez')],
    [500, 500, 200],
  );
  rmSync(filler);
  assert.deepEqual(
    [await status('/readyz'), await write('again'), await status('/readyz')],
    [200, 201, 200],
  );
  await stop();
  await reopenFull(directory);
}

/** Full to the last byte: opening what is there needs no room. */
async function reopenFull(directory: string): Promise<void> {
  spawnSync('sh', ['-c', `cat /dev/zero > ${join(directory, 'rest')}`]);
  const store = await openEmbeddedStore({ directory: join(directory, 'store'), now });
  assert.ok((await store.list('/registry/')).entries.length > 10);
  await assert.rejects(
    store.transact({ compare: [], write: [{ put: '/x', value: Buffer.alloc(3_000_000) }] }),
    (error) => isStoreError(error, 'full'),
  );
  await store.close();
  rmSync(join(directory, 'rest'));
}

type Server = { readonly child: ChildProcess; readonly output: () => string };

/** The real program. */
async function start(flags: readonly string[]): Promise<Server> {
  const child = spawn(
    process.execPath,
    [
      join(project, 'bin', 'fairlead'),
      ...flags,
      '--bind-address',
      '127.0.0.1',
      '--secure-port',
      '0',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output += String(bytes);
    });
  await until(
    () => /kubeconfig/.test(output),
    () => output,
  );
  return { child, output: () => output };
}

async function until(holds: () => boolean, describe: () => string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`never came: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function endWhenGone(directory: string): void {
  const removals: Readonly<Record<string, (data: string) => void>> = {
    'was removed': (data) => rmSync(data, { recursive: true }),
    'was moved away': (data) => renameSync(data, `${data}.moved`),
    'was replaced': (data) => {
      renameSync(data, `${data}.old`);
      mkdirSync(data);
    },
  };
  for (const command of ['apiserver', 'up --network none']) {
    for (const [what, remove] of Object.entries(removals)) {
      test(`${command} ends and says why when its data directory ${what}`, {
        timeout,
      }, async () => {
        const data = join(directory, `${command} ${what}`.replace(/\W+/g, '-'));
        const { child, output } = await start([...command.split(' '), '--data-dir', data]);
        const exited = once(child, 'exit');
        remove(data);
        const [code] = await exited;
        assert.equal(code, 1, output());
        assert.ok(
          output().includes(`error: Cannot go on: "${data}" was removed while it was in use`),
          output(),
        );
        assert.ok(!/\n\s+at /.test(output()), output());
        assert.ok(what !== 'was removed' || !existsSync(data));
      });
    }
  }
}

function reportEtcd(directory: string): void {
  test('up says once that etcd is gone, and that it is back', {
    skip: etcdMissing() ?? false,
    timeout,
  }, async () => {
    const etcd = await startEtcd();
    const data = join(directory, 'on-etcd');
    const flags = ['up', '--network', 'none', '--data-dir', data, '--etcd-servers', etcd.url];
    const { child, output } = await start(flags);
    const exited = once(child, 'exit');
    const count = (text: string): number => output().split(text).length - 1;
    try {
      await etcd.members[0]?.kill();
      await until(() => count('Storage fails, retrying') === 1, output);
      await etcd.members[0]?.start();
      await until(() => count('Storage works again') === 1, output);
      assert.equal(count('Storage fails, retrying'), 1);
    } finally {
      child.kill('SIGTERM');
      await exited;
      await etcd.stop();
    }
    assert.ok(readFileSync(join(data, 'pki', 'ca.crt'), 'utf8').includes('BEGIN'));
  });
}
