import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { assemble, type Step } from './assemble.ts';
import { forkSteps } from './fork-steps.ts';
import { type Architecture, starterFile } from './machine-code.ts';
import { programSteps } from './privilege-steps.ts';
import { spawnStarter } from './spawn-starter.ts';

const skip = process.platform === 'linux' && process.arch === 'x64' ? false : 'needs Linux on x64';

async function run(steps: readonly Step[]) {
  const { child, problem } = spawnStarter(steps, ['ignore', 'pipe', 'pipe']);
  const output = child.stdout === null ? Promise.resolve('') : text(child.stdout);
  const exit = once(child, 'exit');
  const told = await problem;
  const [code] = (await exit) as [number | null];
  return { told, code, output: await output };
}

const shell = (script: string): readonly Step[] =>
  programSteps({
    argv: ['sh', '-c', script],
    variables: { PATH: '/nowhere:/usr/bin:/bin', NAME: 'web' },
    workingDir: '/',
  });

test('the starter becomes a program that it finds in the path, with these variables only', {
  skip,
}, async () => {
  const { told, code, output } = await run(
    shell('echo "$NAME $PWD"; env | sort | cut -d= -f1 | tr "\\n" " "; exit 3'),
  );
  assert.equal(told, undefined);
  assert.deepEqual([code, output], [3, 'web /\nNAME PATH PWD ']);
});

test('the starter says which step failed, and why', { skip }, async () => {
  const steps: readonly Step[] = [
    { call: 'chdir', args: ['/nowhere'], onError: 'next' },
    { call: 'chdir', args: ['/nowhere/else'], what: 'go there' },
    ...shell('echo never'),
  ];
  const { told, code, output } = await run(steps);
  assert.deepEqual(told, { what: 'go there', code: 'ENOENT' });
  assert.deepEqual([code, output], [127, '']);
});

test('a program inherits three descriptors and nothing else', { skip }, async () => {
  const mine = openSync('/etc/passwd', 'r');
  const steps: readonly Step[] = [
    { call: 'close_range', args: [4, 0xffffffff, 0], onError: 'next' },
    ...shell('echo /proc/$$/fd/*'),
  ];
  const { output } = await run(steps);
  // The shell reads its directory by one of its own.
  assert.match(output, /^(\/proc\/\d+\/fd\/[012]\s){3}(\/proc\/\d+\/fd\/3\s)?$/, `beside ${mine}`);
});

const ends: readonly (readonly [string, string, number])[] = [
  ['its code', 'exit 7', 7],
  ['128 and its signal', 'kill -9 $$', 137],
  ['its code, when others end before it', 'sleep 0 & wait; (exit 4) || exit 5', 5],
];

for (const [name, script, code] of ends) {
  test(`who waits for a program ends with ${name}`, { skip }, async () => {
    assert.equal((await run([...forkSteps('outside'), ...shell(script)])).code, code);
  });
}

test('who waits for a program hands signals on', { skip }, async () => {
  const steps = [
    ...forkSteps('a'),
    ...forkSteps('b'),
    ...shell('trap "exit 9" TERM; echo set; while :; do sleep 0.05; done'),
  ];
  const { child } = spawnStarter(steps, ['ignore', 'pipe', 'pipe']);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [9, null]);
});

const emulators: Readonly<Record<Architecture, string>> = {
  x64: 'qemu-x86_64-static',
  arm64: 'qemu-aarch64-static',
};

for (const architecture of ['x64', 'arm64'] as const) {
  const emulator = emulators[architecture];
  const isThere = spawnSync(emulator, ['--version']).status === 0;
  test(`the code for ${architecture} takes all ways through a list`, {
    skip: !isThere && `${emulator} is missing`,
  }, () => {
    const directory = mkdtempSync(join(tmpdir(), 'starter-'));
    try {
      const path = join(directory, 'program');
      const steps: readonly Step[] = [
        { call: 'chdir', args: ['/nowhere'], onError: 'went wrong' },
        { call: 'exit_group', args: [1] },
        {
          label: 'went wrong',
          call: 'write',
          args: [1, 'positive', 8],
          onZero: 'never',
          onPositive: 'wrote',
        },
        { label: 'never', call: 'exit_group', args: [2] },
        { label: 'wrote', call: 'chdir', args: ['/'], onZero: 'went', onPositive: 'never' },
        {
          label: 'went',
          call: 'subtract',
          args: [seven, three, 38],
          result: { argumentOf: 'end', index: 0 },
        },
        { label: 'end', call: 'exit_group', args: [3] },
      ];
      const file = openSync(path, 'w', 0o755);
      for (const [position, bytes] of starterFile(architecture, assemble(steps, architecture).data))
        writeSync(file, bytes, 0, bytes.length, position);
      const { status, stdout } = spawnSync(emulator, [path], { encoding: 'utf8' });
      assert.deepEqual([status, stdout], [42, 'positive']);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

const seven = Buffer.from([7, 0, 0, 0]);
const three = Buffer.from([3, 0, 0, 0]);
