import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isOwnProcess, readRunning } from './state-file.ts';

/** A directory with a state that names a process which runs: this one. */
function prepare(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-state-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const state = { pid: process.pid, dataDir: '/elsewhere' };
  writeFileSync(join(directory, 'up.json'), JSON.stringify(state), { mode: 0o600 });
  return directory;
}

const isRoot = process.geteuid?.() === 0;

test('readRunning() reads a state of the same user', (t) => {
  assert.equal(readRunning(mkdtempSync(join(prepare(t), 'empty-'))), undefined);
  // Whether the process counts depends on how the tests were started; here it is enough that nothing is refused.
  assert.doesNotThrow(() => readRunning(prepare(t)));
});

test('readRunning() rejects a state of another user', {
  skip: !isRoot,
}, (t) => {
  const directory = prepare(t);
  chownSync(join(directory, 'up.json'), 65534, 65534);
  assert.throws(() => readRunning(directory), /belongs to another user \(65534\)/);
});

test('readRunning() rejects files that others may write, and links', (t) => {
  const open = prepare(t);
  chmodSync(join(open, 'up.json'), 0o622);
  assert.throws(() => readRunning(open), /did not write it like this/);
  const linked = prepare(t);
  renameSync(join(linked, 'up.json'), join(linked, 'real.json'));
  symlinkSync('real.json', join(linked, 'up.json'));
  assert.throws(() => readRunning(linked), { code: 'ELOOP' });
});

test('isOurs() looks at processes only', (t) => {
  const directory = prepare(t);
  writeFileSync(join(directory, 'cmdline'), 'node\0up\0');
  const path = `self/../..${directory}`;
  assert.match(readFileSync(`/proc/${path}/cmdline`, 'utf8'), /up/);
  for (const pid of [0, -1, 1.5, path as unknown as number]) assert.equal(isOwnProcess(pid), false);
});
