import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from '../flags/command.ts';
import { allCommands } from './commands/all.ts';
import { run } from './main.ts';

async function call(
  ...argv: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const world: World = {
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
    env: {},
    cwd: () => '/nowhere',
    now: () => 0,
    startedAt: 0,
    interrupted: AbortSignal.abort(),
  };
  return { code: await run(argv, world), out, err };
}

test('run() prints the version', async () => {
  const { code, out } = await call('version');
  assert.equal(code, 0);
  assert.match(out, /^fairlead \d+\.\d+\.\d+\S* \(Kubernetes 1\.36\)\n$/);
});

test('run() lists every command in its help', async () => {
  const { code, out } = await call('help');
  assert.equal(code, 0);
  for (const { name, summary } of allCommands) {
    assert.ok(out.includes(name) && out.includes(summary.slice(0, 20)), name);
  }
});

for (const { name } of allCommands) {
  test(`run() shows the help of ${name}, in text that a terminal can show`, async () => {
    const { code, out } = await call('help', name);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: fairlead ${name}`));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be there.
    assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f]|\(default: [[{]/);
  });
}

test('run() prints the version for --version too, as people try first', async () => {
  const [byFlag, byCommand] = await Promise.all([call('--version'), call('version')]);
  assert.deepEqual(byFlag, byCommand);
});

const mistakes: Readonly<Record<string, [argv: readonly string[], said: RegExp]>> = {
  'an unknown command': [['nonsense'], /unknown command 'nonsense'/],
  'a command that is nearly one': [['verson'], /Did you mean version\?/],
  'an unknown flag': [
    ['up', '--nonsense'],
    /unknown option '--nonsense'\n\(run `fairlead help up` for its flags\)/,
  ],
  'a number that is none': [['demo', '--answers', 'x'], /'x' is invalid/],
  'a data directory that cannot be one': [
    ['apiserver', '--secure-port', '0', '--data-dir', '/dev/null'],
    /Cannot use "\/dev\/null" as the data directory: it is a file/,
  ],
  'a port that is none': [['up', '--secure-port', 'x'], /"x" is not a port/],
  'a node port of the kubernetes Service outside the range (KSV-03)': [
    ['apiserver', '--kubernetes-service-node-port', '80'],
    /80 is not in --service-node-port-range 30000-32767/,
  ],
  'a way to keep endpoints that is none (KSV-08)': [
    ['apiserver', '--endpoint-reconciler-type', 'master-count'],
    /Allowed choices are lease, none/,
  ],
  'an export that does not exist': [
    ['storage', 'import', '/nowhere/export'],
    /Cannot import "\/nowhere\/export": there is no such file/,
  ],
  'an export that is a directory': [
    ['storage', 'import', '/dev'],
    /Cannot import "\/dev": it is not a file/,
  ],
  'an export that cannot be accessed': [
    ['storage', 'import', '/dev/null/export'],
    /Cannot import "\/dev\/null\/export": ENOTDIR/,
  ],
  'a range that is none': [['apiserver', '--service-cluster-ip-range', 'x'], /is not a network/],
};

for (const [what, [argv, said]] of Object.entries(mistakes)) {
  test(`run() explains ${what} and ends with 2`, async () => {
    const { code, err, out } = await call(...argv);
    assert.equal(code, 2);
    assert.match(err, said);
    assert.equal(out, '');
  });
}

test('run() writes out what a terminal would obey in a message', async () => {
  const { code, err } = await call('doctor', 'svc/\u001b]0;owned\u0007');
  assert.equal(code, 2);
  assert.match(err, /^error: "svc\/\\x1b\]0;owned\\x07" is not a Service/);
});
