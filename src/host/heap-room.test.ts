import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { giveHeapRoom, growthPercent } from './heap-room.ts';

const mebibyte = 1024 * 1024;

test('a small heap may grow several times, a large one as V8 thinks best', () => {
  assert.equal(growthPercent(16 * mebibyte), 400);
  assert.equal(growthPercent(64 * mebibyte), 100);
  assert.equal(growthPercent(127 * mebibyte), 50);
  assert.equal(growthPercent(128 * mebibyte), 0);
  assert.equal(growthPercent(4096 * mebibyte), 0);
});

test('V8 is told now and then, not at the start, and it decides again in the end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let used = 32 * mebibyte;
  const said: string[] = [];
  const heap = { usedBytes: () => used, setFlag: (flag: string) => void said.push(flag) };
  const takeBack = giveHeapRoom(heap);
  assert.deepEqual(said, []);
  t.mock.timers.tick(5000);
  used = 300 * mebibyte;
  t.mock.timers.tick(5000);
  used = 64 * mebibyte;
  t.mock.timers.tick(5000);
  takeBack();
  t.mock.timers.tick(50_000);
  assert.deepEqual(said, [
    '--heap-growing-percent=200',
    '--heap-growing-percent=0',
    '--heap-growing-percent=100',
    '--heap-growing-percent=0',
  ]);
});

test('V8 knows the flag', () => {
  const program = `require('node:v8').setFlagsFromString('--heap-growing-percent=200')`;
  const { status, stderr } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
