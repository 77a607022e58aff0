import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeTree } from './remove-tree.ts';

const skip = process.platform === 'linux' ? false : 'needs Linux';

function fixture(t: TestContext): { readonly tree: string; readonly outside: string } {
  const directory = mkdtempSync(join(tmpdir(), 'remove-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [tree, outside] = [join(directory, 'tree'), join(directory, 'outside')];
  mkdirSync(tree);
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), '');
  return { tree, outside };
}

test('removeTree() removes files, directories and links, but not what links point to', {
  skip,
}, async (t) => {
  const { tree, outside } = fixture(t);
  mkdirSync(join(tree, 'a/b'), { recursive: true });
  writeFileSync(join(tree, 'a/b/file'), '');
  symlinkSync(outside, join(tree, 'a/link'));
  symlinkSync('/', join(tree, 'root'));
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
  assert.deepEqual(readdirSync(outside), ['kept']);
  await removeTree(tree);
});

test('removeTree() removes nothing outside when a directory is replaced by a link meanwhile', {
  skip,
}, async (t) => {
  const { tree, outside } = fixture(t);
  for (let index = 0; index < 1000; index += 1) {
    mkdirSync(join(tree, `d${index}`));
    writeFileSync(join(tree, `d${index}`, 'kept'), '');
  }
  const removing = removeTree(tree);
  // Between two slices, as a process of a pod could.
  for (let swaps = 0; swaps < 500; swaps += 1) {
    const name = readdirSync(tree).find((one) => one.startsWith('d'));
    if (name === undefined) break;
    renameSync(join(tree, name), join(tree, `x${swaps}`));
    symlinkSync(outside, join(tree, name));
  }
  await removing;
  assert.deepEqual(readdirSync(outside), ['kept']);
});

test('removeTree() removes directories thousands deep, and those without permissions', {
  skip,
}, async (t) => {
  const { tree } = fixture(t);
  const before = process.cwd();
  process.chdir(tree);
  try {
    for (let depth = 0; depth < 3000; depth += 1) {
      mkdirSync('d');
      process.chdir('d');
    }
  } finally {
    process.chdir(before);
  }
  mkdirSync(join(tree, 'shut/inside'), { recursive: true, mode: 0o000 });
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
});
