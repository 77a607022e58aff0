import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeOldLogs, removeOldRuns } from './remove-old-logs.ts';

test('removeOldRuns() retains the log of the previous run', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'runs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const runs = join(directory, 'runs');
  for (const name of ['9', '10']) mkdirSync(join(runs, name), { recursive: true });
  for (const name of ['9.log', '9.log.001', '10.log']) writeFileSync(join(directory, name), '');
  await removeOldRuns(runs, join(directory, '11.log'), 11);
  assert.deepEqual(readdirSync(runs), []);
  assert.deepEqual(readdirSync(directory).sort(), ['10.log', 'runs']);
});

test('removeOldRuns() removes what an unfinished start of the same run left', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'runs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const runs = join(directory, 'runs');
  mkdirSync(join(runs, '0', 'disk'), { recursive: true });
  writeFileSync(join(directory, '0.log'), '');
  await removeOldRuns(runs, join(directory, '0.log'), 0);
  assert.deepEqual(readdirSync(runs), []);
  assert.deepEqual(readdirSync(directory).sort(), ['0.log', 'runs']);
});

test('removeOldLogs() retains logs of existing pods, and the newest of deleted ones', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'logs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (let number = 0; number < 102; number += 1) {
    const path = join(directory, 'logs', `default_web_u${number}`);
    mkdirSync(path, { recursive: true });
    utimesSync(path, number, number);
  }
  removeOldLogs(directory, (uid) => uid === 'u0');
  const remaining = new Set(readdirSync(join(directory, 'logs')));
  assert.equal(remaining.size, 101);
  assert.deepEqual(
    ['default_web_u0', 'default_web_u1', 'default_web_u2'].map((name) => remaining.has(name)),
    [true, false, true],
  );
});
