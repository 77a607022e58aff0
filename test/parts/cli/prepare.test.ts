// scripts/prepare.mjs in a clone with a program of a few lines: several at once compile once, and one that is ended leaves nothing half-done.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { leftOf, tracesOf } from '../../lanes/process-traces.ts';
import { root } from '../../lanes/running-server.ts';

const timeout = 120_000;

/** The entries that scripts/bundle.mjs needs; `up` says that it runs. */
const sources: Readonly<Record<string, string>> = {
  'cli/launch': 'export const launch = async () => false;',
  'cli/load-bundle': `import { createRequire } from 'node:module';
export const openBundle = (folder: string) => ({ load: (name: string) => createRequire(folder)('./' + name) });`,
  'cli/main': "export const main = async () => void process.stdout.write('it runs');",
  'cloud/providers/aws/apply-sdk': 'export {};',
  'observe/one-worker': 'export {};',
};

function makeClone(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-prepare-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const name of ['bin', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(root, name), join(directory, name), { recursive: true });
  }
  for (const [name, text] of Object.entries(sources)) {
    const path = join(directory, 'src', `${name}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return directory;
}

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };
type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended> };

function start(clone: string): Started {
  const child = spawn(process.execPath, [join(clone, 'scripts', 'start.mjs')], { cwd: clone });
  let out = '';
  let err = '';
  child.stdout.on('data', (bytes: Buffer) => {
    out += String(bytes);
  });
  child.stderr.on('data', (bytes: Buffer) => {
    err += String(bytes);
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, out, err })) };
}

test('three starts at once compile once, and all run', { timeout }, async () => {
  const clone = makeClone();
  const runs = await Promise.all([1, 2, 3].map(() => start(clone).ended));
  const all = runs.map(({ err }) => err).join('');
  assert.deepEqual(
    runs.map(({ code, out }) => [code, out]),
    runs.map(() => [0, 'it runs']),
    all,
  );
  assert.equal(all.split('Compiling...').length - 1, 1, all);
});

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
  test(`a start that gets ${signal} while it compiles ends, and the next one compiles`, {
    timeout,
  }, async () => {
    const clone = makeClone();
    const first = start(clone);
    await once(first.child.stderr ?? first.child, 'data');
    const traces = tracesOf(first.child.pid ?? 0);
    first.child.kill(signal);
    const { code, out } = await first.ended;
    assert.deepEqual([code, out], [130, '']);
    assert.deepEqual(await leftOf(traces), []);
    assert.ok(!existsSync(join(clone, 'dist', '.built')));
    const second = await start(clone).ended;
    assert.deepEqual([second.code, second.out], [0, 'it runs'], second.err);
  });
}

/** Where Node cannot become the compiler, that is a process below the one that is started. */
const endlessCompiler = `import { spawnSync } from 'node:child_process';
process.stderr.write('at work');
spawnSync('sleep', ['1000']);`;

test('a start that is ended takes the whole compiler with it', { timeout }, async () => {
  const clone = makeClone();
  const modules = join(clone, 'node_modules');
  rmSync(modules);
  const compiler = join(modules, 'typescript', 'bin');
  mkdirSync(compiler, { recursive: true });
  symlinkSync(join(root, 'node_modules', '.fairlead-lock'), join(modules, '.fairlead-lock'));
  writeFileSync(join(modules, 'typescript', 'package.json'), '{"type":"module"}');
  writeFileSync(join(compiler, 'tsc'), endlessCompiler);
  const { child, ended } = start(clone);
  const pid = child.pid ?? 0;
  while (tracesOf(pid).processes.length < 3) {
    assert.equal(child.exitCode, null, 'it ended before its compiler ran');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const traces = tracesOf(pid);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 130);
  assert.deepEqual(await leftOf(traces), []);
});

test('who waits takes over when the one that compiles is killed', { timeout }, async () => {
  const clone = makeClone();
  const first = start(clone);
  await once(first.child.stderr ?? first.child, 'data');
  const second = start(clone);
  const [output] = await once(second.child.stderr ?? second.child, 'data');
  assert.equal(String(output), 'Another process is preparing this clone, waiting...\n');
  first.child.kill('SIGKILL');
  const { code, out, err } = await second.ended;
  assert.deepEqual([code, out], [0, 'it runs'], err);
  assert.ok(readFileSync(join(clone, 'dist', 'bundle', 'cli', 'main.js'), 'utf8').length > 0);
});
