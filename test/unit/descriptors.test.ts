// In a worker thread Node remembers what `openSync` opened until `closeSync` closes it, warns when the number comes again, and closes it at the
// end of the thread, whichever file has that number by then. A stream or server closes its descriptor by itself: one that it is given comes from the C library.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../../../src', import.meta.url));

const taken =
  /\bnew (?:ReadStream|WriteStream|Socket)\(\s*(?:fd\b|\{[^}]*\bfd\b)|\.(?:listen|bind)\(\s*\{[^}]*\bfd\b|\bfd, allowHalfOpen\b/;

const givers = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(sources, path), 'utf8') }))
  .filter(({ text }) => taken.test(text));

test('descriptors that streams take over are opened by the C library', () => {
  const paths = givers.map(({ path }) => path);
  assert.ok(
    paths.includes('host/pseudo-terminal.ts') && paths.includes('host/namespace-sockets.ts'),
  );
  const wrong = givers.filter(({ text }) => /\bopenSync\b.*from 'node:fs'/.test(text));
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});
