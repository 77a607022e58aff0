// Real programs: shell scripts as plugins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { ExecPlugin } from './kubeconfig-user.ts';
import { type PluginWorld, runExecPlugin } from './run-exec-plugin.ts';

const limit = { timeout: 60_000 };
const apiVersion = 'client.authentication.k8s.io/v1';
const connection = { server: 'https://api', namespace: 'default', skipTlsVerification: false };

function shell(script: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
  return {
    ...{ apiVersion, command: 'sh', args: ['-c', script], env: {} },
    ...{ interactiveMode: 'IfAvailable', provideClusterInfo: false },
    ...more,
  };
}

function setUp(limits: Partial<PluginWorld['limits']> = {}) {
  const said: Buffer[] = [];
  const world: PluginWorld = {
    env: process.env,
    isTerminal: false,
    writeError: (bytes) => said.push(Buffer.from(bytes)),
    limits: {
      ...{ timeoutMs: 30_000, interactiveTimeoutMs: 30_000, outputBytes: 10_000, errorBytes: 100 },
      ...limits,
    },
  };
  const ending = new AbortController();
  return {
    run: (plugin: ExecPlugin) => runExecPlugin(plugin, connection, world, ending.signal),
    said: () => Buffer.concat(said).toString(),
    ending,
  };
}

const print = (token: string): string =>
  `printf '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{"token":"%s"}}' "${token}"`;

test(
  'runExecPlugin() reads what a program prints, and gives it arguments and variables',
  limit,
  async () => {
    const plugin = shell(print('$0-$1-$WHAT'), { env: { WHAT: 'w' } });
    const { run, said } = setUp();
    assert.deepEqual(await run({ ...plugin, args: [...plugin.args, 'zero', 'one'] }), {
      token: 'zero-one-w',
    });
    assert.equal(said(), '');
  },
);

test(
  'runExecPlugin() tells the program in KUBERNETES_EXEC_INFO what it may do',
  limit,
  async () => {
    const script = `case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ${print('told')};; esac`;
    assert.deepEqual(await setUp().run(shell(script)), { token: 'told' });
  },
);

test(
  'runExecPlugin() gives the program no standard input where there is no terminal',
  limit,
  async () => {
    assert.deepEqual(await setUp().run(shell(`cat; ${print('done')}`)), { token: 'done' });
  },
);

test('runExecPlugin() passes on what the program says, up to a limit', limit, async () => {
  const { run, said } = setUp();
  await run(shell(`echo 'Sign in at https://login' >&2; ${print('t')}`));
  assert.equal(said(), 'Sign in at https://login\n');
  const noisy = setUp();
  await noisy.run(shell(`head -c 1000000 /dev/zero >&2; ${print('t')}`));
  assert.equal(noisy.said().length, 100);
});

const refused: readonly (readonly [string, ExecPlugin, RegExp])[] = [
  ['exits with 3', shell('exit 3'), /ended with exit code 3$/],
  ['kills itself', shell('kill -9 $$'), /was ended by SIGKILL$/],
  ['prints no JSON', shell('echo nonsense'), /printed no JSON object$/],
  ['prints without end', shell('yes'), /printed more than 10000 bytes$/],
  [
    'is not installed',
    shell('', { command: 'no-such-plugin' }),
    /"no-such-plugin".*no such program in \$PATH$/,
  ],
  [
    'is not installed and has a hint',
    shell('', { command: 'no-such-plugin', installHint: 'Get it at x.\n' }),
    /no such program in \$PATH\n\nGet it at x\.$/,
  ],
  ['is a path that is not there', shell('', { command: '/no/such/plugin' }), /it is not there$/],
  ['is no program', shell('', { command: '/etc/passwd' }), /it may not be executed$/],
  ['has an impossible argument', shell('', { args: ['a\0b'] }), /null bytes/],
  [
    'must ask questions',
    shell('', { interactiveMode: 'Always' }),
    /standard input is not a terminal$/,
  ],
];
for (const [what, plugin, why] of refused) {
  test(`runExecPlugin() explains a plugin that ${what}`, limit, async () => {
    await assert.rejects(
      setUp().run(plugin),
      (error) => error instanceof KubeconfigError && why.test(error.message),
    );
  });
}

test(
  'runExecPlugin() ends a plugin that does not end, and what holds its output',
  limit,
  async () => {
    const { run } = setUp({ timeoutMs: 200 });
    await assert.rejects(run(shell('sleep 1000 & sleep 1000')), /did not end within 0\.2 s$/);
  },
);

test('runExecPlugin() ends the plugin when its transport is closed', limit, async () => {
  const { run, ending } = setUp();
  const running = run(shell('sleep 1000'));
  ending.abort();
  await assert.rejects(running, /interrupted/);
});
