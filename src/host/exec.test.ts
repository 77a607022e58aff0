import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, CommandError, hasExitCode, isProgramMissing, runCommand } from './exec.ts';

async function failureOf(command: Command, signal?: AbortSignal): Promise<CommandError> {
  const error = await runCommand(command, signal).then(
    () => assert.fail('it must fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CommandError, String(error));
  return error;
}

const script = (source: string): Command['argv'] => [process.execPath, '-e', source];

test('runCommand() passes input and returns output', async () => {
  const { stdout, stderr } = await runCommand({
    argv: ['sh', '-c', 'cat; echo "$GREETING" >&2'],
    stdin: ['one\n', 'two\n'],
    env: { GREETING: 'hello' },
  });
  assert.deepEqual({ stdout, stderr }, { stdout: 'one\ntwo\n', stderr: 'hello\n' });
});

test('runCommand() passes more input than a pipe holds', async () => {
  const part = 'x'.repeat(100_000);
  const stdin = Array.from({ length: 50 }, () => part);
  const { stdout } = await runCommand({ argv: ['wc', '-c'], stdin });
  assert.equal(Number(stdout), 5_000_000);
});

test('runCommand() passes output on as it arrives, and does not return it then', async () => {
  const parts: Buffer[] = [];
  const { stdout, stderr } = await runCommand({
    argv: ['sh', '-c', 'echo out; echo no >&2'],
    output: (part) => parts.push(part),
  });
  assert.deepEqual([String(Buffer.concat(parts)), stdout, stderr], ['out\n', '', 'no\n']);
});

test('runCommand() says how a program failed', async () => {
  const error = await failureOf({ argv: ['sh', '-c', 'echo out; echo no >&2; exit 4'] });
  assert.ok(hasExitCode(error, 4));
  assert.deepEqual([error.failure.stdout, error.failure.stderr], ['out\n', 'no\n']);
  assert.match(error.message, /^Cannot run "sh -c .*": exit code 4: no$/);
});

test('runCommand() reports a program that is not installed', async () => {
  assert.ok(isProgramMissing(await failureOf({ argv: ['no-such-program'], stdin: 'x' })));
});

test('runCommand() does not fail when a program exits before it has read everything', async () => {
  const stdin = Array.from({ length: 100 }, () => 'x'.repeat(100_000));
  assert.deepEqual(await runCommand({ argv: ['true'], stdin }), { stdout: '', stderr: '' });
});

test('runCommand() stops a program that takes too long', async () => {
  const error = await failureOf({ argv: script('setInterval(() => {}, 1e6)'), timeoutMs: 50 });
  assert.equal(error.failure.code, 'ETIMEDOUT');
});

test('runCommand() stops a program that writes too much', async () => {
  const error = await failureOf({ argv: ['yes'], maxOutputBytes: 10_000 });
  assert.equal(error.failure.code, 'ENOBUFS');
});

test('runCommand() stops a program when the signal aborts, and starts none after that', async () => {
  const abort = new AbortController();
  const running = failureOf({ argv: script('setInterval(() => {}, 1e6)') }, abort.signal);
  abort.abort();
  assert.equal((await running).failure.code, 'ABORT_ERR');
  assert.equal((await failureOf({ argv: ['true'] }, abort.signal)).failure.code, 'ABORT_ERR');
});
