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
  const failure = await problem;
  const [code] = (await exit) as [number | null];
  return { failure, code, output: await output };
}

const shell = (script: string): readonly Step[] =>
  programSteps({
    argv: ['sh', '-c', script],
    variables: { PATH: '/nowhere:/usr/bin:/bin', NAME: 'web' },
    workingDir: '/',
  });

test('spawnStarter() runs a program from PATH with the given variables only', {
  skip,
}, async () => {
  const { failure, code, output } = await run(
    shell('echo "$NAME $PWD"; env | sort | cut -d= -f1 | tr "\\n" " "; exit 3'),
  );
  assert.equal(failure, undefined);
  assert.deepEqual([code, output], [3, 'web /\nNAME PATH PWD ']);
});

test('spawnStarter() reports the failed step and its error', { skip }, async () => {
  const steps: readonly Step[] = [
    { call: 'chdir', args: ['/nowhere'], onError: 'next' },
    { call: 'chdir', args: ['/nowhere/else'], what: 'go there' },
    ...shell('echo never'),
  ];
  const { failure, code, output } = await run(steps);
  assert.deepEqual(failure, { what: 'go there', code: 'ENOENT' });
  assert.deepEqual([code, output], [127, '']);
});

test('spawnStarter() passes only three descriptors to the program', { skip }, async () => {
  const descriptor = openSync('/etc/passwd', 'r');
  const steps: readonly Step[] = [
    { call: 'close_range', args: [4, 0xffffffff, 0], onError: 'next' },
    ...shell('echo /proc/$$/fd/*'),
  ];
  const { output } = await run(steps);
  // The shell reads its directory by one of its own.
  assert.match(
    output,
    /^(\/proc\/\d+\/fd\/[012]\s){3}(\/proc\/\d+\/fd\/3\s)?$/,
    `beside ${descriptor}`,
  );
});

const ends: readonly (readonly [string, string, number])[] = [
  ['the code of the program', 'exit 7', 7],
  ['128 plus the signal of the program', 'kill -9 $$', 137],
  [
    'the code of the program, when other children exit before it',
    'sleep 0 & wait; (exit 4) || exit 5',
    5,
  ],
];

for (const [name, script, code] of ends) {
  test(`forkSteps() exits with ${name}`, { skip }, async () => {
    assert.equal((await run([...forkSteps('outside'), ...shell(script)])).code, code);
  });
}

test('forkSteps() forwards signals', { skip }, async () => {
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
  test(`the code for ${architecture} takes all branches of a list`, {
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
