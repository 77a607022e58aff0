import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { type Bundle, cacheSuffix, openBundle } from './load-bundle.ts';

// Within one process V8 remembers texts, and would not look at what is kept.
setFlagsFromString('--no-compilation-cache');

function bundleOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bundle-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const program = {
  'main.js':
    'const { triple } = require("./part.js"); exports.join = require("node:path").join; exports.nine = triple(3);',
  'part.js': 'exports.triple = (n) => 3 * n; exports.names = [__filename, __dirname];',
};

/** As the build does after a run. */
function keep(bundle: Bundle): void {
  for (const [path, script] of bundle.scripts) {
    writeFileSync(`${path}${cacheSuffix}`, script.createCachedData());
  }
}

const refusals = ({ scripts }: Bundle): readonly (boolean | undefined)[] =>
  [...scripts.values()].map(({ cachedDataRejected }) => cachedDataRejected);

test('openBundle() loads files that require each other and modules of Node', (t) => {
  const directory = bundleOf(t, program);
  const main = openBundle(directory).load('main.js') as { nine: number; join: unknown };
  assert.equal(main.nine, 9);
  assert.equal(main.join, join);
});

test('openBundle() runs a file once, and passes its own path', (t) => {
  const directory = bundleOf(t, program);
  const bundle = openBundle(directory);
  const part = bundle.load('part.js') as { names: readonly string[] };
  bundle.load('main.js');
  assert.equal(bundle.load('./part.js'), part);
  assert.deepEqual(part.names, [join(directory, 'part.js'), directory]);
});

test('openBundle() allows cycles between files', (t) => {
  const directory = bundleOf(t, {
    'a.js': 'exports.early = 1; exports.seen = require("./b.js").seen;',
    'b.js': 'exports.seen = require("./a.js").early;',
  });
  assert.deepEqual(openBundle(directory).load('a.js'), { early: 1, seen: 1 });
});

test('openBundle() uses the code cache of a file', (t) => {
  const directory = bundleOf(t, program);
  const first = openBundle(directory);
  first.load('main.js');
  assert.deepEqual(refusals(first), [undefined, undefined]);
  keep(first);
  const second = openBundle(directory);
  assert.equal((second.load('main.js') as { nine: number }).nine, 9);
  assert.deepEqual(refusals(second), [false, false]);
});

test('openBundle() compiles when the code cache is outdated, damaged or empty', (t) => {
  const directory = bundleOf(t, { ...program, 'empty.js': 'exports.is = "there";' });
  const first = openBundle(directory);
  first.load('main.js');
  keep(first);
  writeFileSync(join(directory, 'part.js'), 'exports.triple = (n) => n + n + n + 1;');
  writeFileSync(join(directory, `main.js${cacheSuffix}`), 'no such thing');
  writeFileSync(join(directory, `empty.js${cacheSuffix}`), '');
  const second = openBundle(directory);
  assert.equal((second.load('main.js') as { nine: number }).nine, 10);
  assert.deepEqual(second.load('empty.js'), { is: 'there' });
  assert.deepEqual(refusals(second), [true, true, true]);
});

test('openBundle() keeps lines and columns of stack traces', (t) => {
  const directory = bundleOf(t, {
    'main.js': 'exports.fail = () => { throw new Error("here"); };',
  });
  const { fail } = openBundle(directory).load('main.js') as { fail: () => void };
  assert.throws(fail, (error: Error) => error.stack?.includes('main.js:1:30') ?? false);
});
