import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStreamRequest } from './stream-request.ts';
import { exitStatus, internalStatus, statusText, succeeded } from './stream-status.ts';
import { createSizeReader } from './terminal-sizes.ts';

const parse = (path: string) => parseStreamRequest(new URL(path, 'https://node'));

test('parseStreamRequest() parses exec, attach and portForward', () => {
  const segments = { namespace: 'ns', pod: 'web', container: 'app' };
  const streams = { hasInput: true, hasOutput: true, hasErrors: false, hasTerminal: true };
  assert.deepEqual(
    parse('/exec/ns/web/app?input=1&output=1&error=1&tty=1&command=sh&command=-c&command=a%20b'),
    { kind: 'exec', ...segments, ...streams, command: ['sh', '-c', 'a b'] },
  );
  assert.deepEqual(parse('/attach/ns/web/some-uid/app?error=1'), {
    kind: 'attach',
    ...segments,
    command: [],
    hasInput: false,
    hasOutput: false,
    hasErrors: true,
    hasTerminal: false,
  });
  assert.deepEqual(parse('/portForward/ns/web?port=80&port=81,82'), {
    kind: 'portForward',
    namespace: 'ns',
    pod: 'web',
    ports: [80, 81, 82],
  });
  assert.equal(parse('/healthz'), undefined);
});

const wrong = [
  ['/exec/ns/web/app?command=ls', 400, /at least 1 of stdin, stdout, stderr/],
  ['/exec/ns/web/app?output=1', 400, /you must specify a command/],
  ['/exec/ns/web?output=1&command=ls', 404, /not found/],
  ['/exec//web/app?output=1&command=ls', 404, /not found/],
  ['/portForward/ns/web?port=http', 400, /unable to parse "http" as a port/],
  ['/portForward/ns/web?port=65536', 400, /must be > 0 and <= 65535/],
  [`/portForward/ns/web?${'port=80&'.repeat(101)}`, 400, /more than 100/],
] as const;
for (const [path, code, message] of wrong) {
  test(`parseStreamRequest() refuses ${path.slice(0, 60)}`, () => {
    assert.throws(() => parse(path), { code, message });
  });
}

test('exitStatus() is Success, or has the exit code as a cause', () => {
  assert.equal(statusText(exitStatus(0), true), '{"metadata":{},"status":"Success"}');
  assert.equal(
    statusText(exitStatus(3), true),
    '{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: exit status 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
  );
  assert.deepEqual(internalStatus('no'), {
    metadata: {},
    status: 'Failure',
    message: 'Internal error occurred: no',
    reason: 'InternalError',
    details: { causes: [{ message: 'no' }] },
    code: 500,
  });
});

test('statusText() for old clients has only errors', () => {
  assert.equal(statusText(succeeded, false), '');
  assert.match(statusText(exitStatus(3), false), /exit status 3/);
});

test('createSizeReader() reads sizes from chunks of any size, and skips invalid ones', () => {
  const read = createSizeReader();
  const text =
    '{"Width":80,"Height":24}\n{"Width":0,"Height":9}{"Wid{}nonsense}{"Width":1e9,"Height":1}{"Width":100,"Height":50}';
  const found = [...text].flatMap((letter) => read(letter));
  assert.deepEqual(found, [
    { columns: 80, rows: 24 },
    { columns: 100, rows: 50 },
  ]);
  assert.deepEqual(read('x'.repeat(1_000_000)), []);
});
