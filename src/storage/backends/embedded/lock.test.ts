import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isStoreError } from '../../store-error.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';

const root = mkdtempSync(join(tmpdir(), 'fairlead-lock-'));
after(() => rmSync(root, { recursive: true }));

let made = 0;
function newDirectory(name = `d${made++}`): string {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

const isLocked = (error: unknown): boolean => isStoreError(error, 'locked');

/** A process that takes the lock and holds it until it is killed. */
async function startOwner(directory: string): Promise<ChildProcess> {
  const module = JSON.stringify(import.meta.url.replace('.test.', '.'));
  const code = `
    import { lockDirectory } from ${module};
    await lockDirectory(${JSON.stringify(directory)});
    process.stdout.write('locked');
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  return child;
}

async function killHard(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Many at once; those who got the lock. */
async function contend(directory: string, contenders: number): Promise<DirectoryLock[]> {
  const attempts = Array.from({ length: contenders }, () => lockDirectory(directory));
  const outcomes = await Promise.allSettled(attempts);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') assert.ok(isLocked(outcome.reason), outcome.reason);
  }
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

test('lockDirectory() names the process that holds the directory, and acquires it after that was killed', async () => {
  const directory = newDirectory();
  const owner = await startOwner(directory);
  await assert.rejects(lockDirectory(directory), {
    reason: 'locked',
    message: `Cannot open "${directory}": process ${owner.pid} has it open`,
  });
  await killHard(owner);
  const lock = await lockDirectory(directory);
  await assert.rejects(lockDirectory(directory), isLocked);
  await lock.release();
});

test('lockDirectory() detects a holder that cannot answer', async () => {
  const directory = newDirectory();
  const owner = await startOwner(directory);
  owner.kill('SIGSTOP');
  await assert.rejects(lockDirectory(directory), {
    reason: 'locked',
    message: `Cannot open "${directory}": another process has it open`,
  });
  await killHard(owner);
});

test('lockDirectory() lets one of many processes acquire the directory, repeatedly', async () => {
  const directory = newDirectory();
  for (let round = 0; round < 20; round++) {
    const winners = await contend(directory, 6);
    assert.equal(winners.length, 1);
    for (const winner of winners) await winner.release();
  }
  assert.equal(readdirSync(directory).length, 1);
});

test('lockDirectory() lets one of many acquire the directory of a killed process', async () => {
  const directory = newDirectory();
  await killHard(await startOwner(directory));
  const winners = await contend(directory, 12);
  assert.equal(winners.length, 1);
  for (const winner of winners) await winner.release();
});

test('lockDirectory() ignores other files', async () => {
  const directory = newDirectory();
  for (const name of ['lock-7', 'lock-x', 'lock-new-1', 'store.mdb']) {
    writeFileSync(join(directory, name), 'not a socket');
  }
  await (await lockDirectory(directory)).release();
});

test('lockDirectory() locks a directory whose path is too long for a socket', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, async () => {
  const directory = newDirectory('long/'.padEnd(180, 'x'));
  const lock = await lockDirectory(directory);
  await assert.rejects(lockDirectory(directory), isLocked);
  await lock.release();
});
