import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { growthPercent, relaxHeapGrowth } from './heap-room.ts';

const mebibyte = 1024 * 1024;

test('growthPercent() is large for small heaps, and 0 for large ones', () => {
  assert.equal(growthPercent(16 * mebibyte), 400);
  assert.equal(growthPercent(64 * mebibyte), 100);
  assert.equal(growthPercent(127 * mebibyte), 50);
  assert.equal(growthPercent(128 * mebibyte), 0);
  assert.equal(growthPercent(4096 * mebibyte), 0);
});

test('relaxHeapGrowth() sets the flag at intervals, not at the start, and resets it at the end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let used = 32 * mebibyte;
  const flags: string[] = [];
  const heap = { usedBytes: () => used, setFlag: (flag: string) => void flags.push(flag) };
  const stop = relaxHeapGrowth(heap);
  assert.deepEqual(flags, []);
  t.mock.timers.tick(5000);
  used = 300 * mebibyte;
  t.mock.timers.tick(5000);
  used = 64 * mebibyte;
  t.mock.timers.tick(5000);
  stop();
  t.mock.timers.tick(50_000);
  assert.deepEqual(flags, [
    '--heap-growing-percent=200',
    '--heap-growing-percent=0',
    '--heap-growing-percent=100',
    '--heap-growing-percent=0',
  ]);
});

test('V8 accepts the flag', () => {
  const program = `require('node:v8').setFlagsFromString('--heap-growing-percent=200')`;
  const { status, stderr } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
