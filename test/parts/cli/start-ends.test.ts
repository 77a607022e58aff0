// `npm start` and `fairlead up` shut down gracefully with the process that started them, and outlive it only on request.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeClone, type NpmStart, npmStart, type Pids } from '../../lanes/npm-start.ts';
import { leftOf } from '../../lanes/process-traces.ts';
import { runCommand } from '../harness/run-command.ts';

const timeout = 120_000;
const flags = ['--network', 'none'];
const clone = makeClone();
after(clone.remove);

const whos = ['npm', 'starter', 'program'] as const satisfies readonly (keyof Pids)[];
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

/** util-linux' script(1): a command in a terminal of its own, which hangs up when script ends. */
const inTerminal = (argv: readonly string[]): readonly string[] => [
  ...['script', '-qec', argv.join(' '), '/dev/null'],
];
const skip = spawnSync('script', ['--version']).status === 0 ? false : 'needs script(1)';

describe('npm start', { timeout, concurrency: 2 }, () => {
  for (const who of whos) {
    for (const signal of signals) {
      test(`all ends when ${who} gets ${signal}`, async () => {
        const run = await npmStart(clone.directory, flags);
        process.kill(run.pids[who], signal);
        await assertEnded(run);
        // A killed process cannot shut down gracefully, but its children can.
        const isKilled = who === 'program' && signal === 'SIGKILL';
        assert.equal(run.hasEndedInOrder(), !isKilled, run.output());
      });
    }
  }

  test('all ends in order when each process gets SIGTERM at once, as from a process manager', async () => {
    const run = await npmStart(clone.directory, flags);
    for (const { pid } of run.traces.processes) process.kill(pid, 'SIGTERM');
    await assertEnded(run);
    assert.ok(run.hasEndedInOrder(), run.output());
  });

  test('all ends in order when a package manager is killed whose shell stays between', async () => {
    const run = await npmStart(clone.directory, flags, ([, , , ...rest]) => {
      const inner = `npm_lifecycle_event=start node scripts/start.mjs ${rest.join(' ')}; true`;
      return ['sh', '-c', `sh -c '${inner}'; true`];
    });
    process.kill(run.pids.npm, 'SIGKILL');
    await assertEnded(run);
    assert.ok(run.hasEndedInOrder(), run.output());
  });

  test('the starter alone goes on when the shell that began it ends', async () => {
    const run = await npmStart(clone.directory, flags, ([, , , ...rest]) => {
      return ['sh', '-c', `node scripts/start.mjs ${rest.join(' ')} & wait`];
    });
    const exited = once(run.process, 'exit');
    run.process.kill('SIGKILL');
    await exited;
    const { code, err } = await runCommand(`down --data-dir ${run.dataDir}`, clone.directory);
    assert.equal(code, 0, err);
    await assertEnded(run);
  });

  test('all ends in order when the terminal is killed', { skip }, async () => {
    const run = await npmStart(clone.directory, flags, inTerminal);
    run.process.kill('SIGKILL');
    await assertEnded(run);
    assert.ok(run.hasEndedInOrder(), run.output());
  });
});

async function assertEnded({ traces }: NpmStart): Promise<void> {
  const left = await leftOf(traces);
  for (const text of left) {
    const [, pid] = /^process (\d+)$/.exec(text) ?? [];
    if (pid !== undefined) process.kill(Number(pid), 'SIGKILL');
  }
  assert.deepEqual(left, []);
}

/** Each starts `up` in the background and leaves; the text of `$@` is the command. */
const backgrounds: Readonly<Record<string, string>> = {
  'nohup in a terminal': 'nohup "$@" > "$LOG" 2>&1 &',
  'nohup in a terminal, with all three descriptors elsewhere':
    'nohup "$@" > "$LOG" 2>&1 < /dev/null &',
  'setsid in a terminal': 'setsid "$@" > "$LOG" 2>&1 < /dev/null &',
};

describe('fairlead up in the background', { timeout, skip }, () => {
  for (const [name, script] of Object.entries(backgrounds)) {
    test(`goes on when the shell that began it ends: ${name}`, async () => {
      const directory = mkdtempSync(join(clone.directory, 'background-'));
      const data = join(directory, 'data');
      const log = join(directory, 'log');
      const program = join(clone.directory, 'bin', 'fairlead');
      const up = [program, 'up', ...flags, '--secure-port', '0', '--data-dir', data];
      // Interactive, as in a terminal: such a shell gives jobs a process group of their own.
      const wait = `until [ -e '${data}/up.json' ]; do :; done`;
      const text = `set -m; set -- ${up.join(' ')}; ${script} ${wait}`;
      const terminal = spawn(
        'script',
        ['-qec', `bash -c '${text.replaceAll("'", `'\\''`)}'`, '/dev/null'],
        {
          env: { ...process.env, LOG: log },
          stdio: 'ignore',
        },
      );
      await once(terminal, 'exit');
      const { pid } = JSON.parse(readFileSync(join(data, 'up.json'), 'utf8'));
      try {
        // What the shell of a closing terminal would send.
        if (name.startsWith('nohup')) process.kill(pid, 'SIGHUP');
        for (let n = 0; n < 3; n += 1) {
          const { code, err } = await runCommand(
            `get namespaces --kubeconfig ${join(data, 'kubeconfig')}`,
            directory,
          );
          assert.equal(code, 0, err);
        }
        assert.ok(!readFileSync(log, 'utf8').includes('Ending'), readFileSync(log, 'utf8'));
      } finally {
        const { code, err } = await runCommand(`down --data-dir ${data}`, directory);
        assert.equal(code, 0, err);
      }
      assert.ok(!existsSync(join(data, 'up.json')));
    });
  }
});
