import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { StoreError } from '../storage/store-error.ts';
import { FailedError, UsageError } from './command.ts';
import { explainLocked, makeDataDirectory, removeDataDirectory } from './data-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'fairlead-data-'));
after(() => rmSync(root, { recursive: true }));

test('makeDataDirectory() creates parents with private modes, and returns them', async () => {
  const path = join(root, 'a', 'b', 'c');
  assert.deepEqual(await makeDataDirectory(path), [join(root, 'a'), join(root, 'a', 'b'), path]);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.deepEqual(await makeDataDirectory(path), []);
});

const file = join(root, 'file');
writeFileSync(file, '');
const refused: Readonly<Record<string, [path: string, reason: RegExp]>> = {
  'a file': [file, /file" as the data directory: it is a file\. Choose another with --data-dir\./],
  'a path through a file': [join(file, 'x'), /a part of the path is a file/],
  // Node.js' own recursive mkdir does not come back from here.
  'a place that takes no directories': ['/proc/nowhere/x', /no directory can be made there/],
};
for (const [what, [path, reason]] of Object.entries(refused)) {
  test(`makeDataDirectory() refuses ${what} in a sentence`, async () => {
    await assert.rejects(
      makeDataDirectory(path),
      (error: unknown) => error instanceof UsageError && reason.test(error.message),
    );
  });
}

test('removeDataDirectory() removes only what was created', async () => {
  const made = await makeDataDirectory(join(root, 'd', 'e'));
  writeFileSync(join(root, 'd', 'e', 'store'), '');
  await removeDataDirectory(made);
  assert.equal(existsSync(join(root, 'd')), false);

  const shared = await makeDataDirectory(join(root, 'f', 'g'));
  writeFileSync(join(root, 'f', 'of-another-user'), '');
  await removeDataDirectory(shared);
  assert.deepEqual(readdirSync(join(root, 'f')), ['of-another-user']);

  await removeDataDirectory([]);
  assert.ok(existsSync(root));
});

test('explainLocked() names the running `up` by its outer process ID', () => {
  const directory = join(root, 'locked');
  mkdirSync(directory);
  const error = new StoreError('locked', 'process 2 has it open');
  assert.equal(explainLocked(error, directory), error);
  // Any process with `up` in its command line counts.
  const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', 'up']);
  try {
    writeFileSync(join(directory, 'up.json'), JSON.stringify({ pid: owner.pid }));
    const explained = explainLocked(error, directory);
    assert.ok(explained instanceof FailedError);
    assert.match(explained.message, new RegExp(`fairlead up. has it open .process ${owner.pid}.`));
  } finally {
    owner.kill();
  }
  const other = new Error('something else');
  assert.equal(explainLocked(other, directory), other);
});
