// Every list, map and text of every kind, as large as the limits allow: no request takes more of the main thread in one
// go than its size explains. What grows with the square of its size does not pass.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SweepPlan, SweepReport } from './sweep-process.ts';

const program = fileURLToPath(new URL('./sweep-process.js', import.meta.url));

async function sweep(plan: SweepPlan): Promise<SweepReport> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(plan)], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as SweepReport;
}

/** The goal is 50 ms; steps that are linear took up to 103 on a busy machine, and what grew with the square 270 to 1,200. */
const maxMs = 160;

test('lists and maps of every kind', { skip: process.platform !== 'linux' }, async () => {
  const { slow, sent } = await sweep({ scale: 1, maxMs, fields: '(items|keys)$', isSampled: true });
  assert.deepEqual(slow, []);
  assert.ok(sent > 2_000, `only ${sent} requests`);
});

test('texts of every kind', { skip: process.platform !== 'linux' }, async () => {
  const { slow, sent } = await sweep({
    // Whatever costs the square of a text shows in half a megabyte.
    scale: 0.2,
    maxMs,
    fields: '(digits|slashes)$',
    requests: '^create$',
  });
  assert.deepEqual(slow, []);
  assert.ok(sent > 500, `only ${sent} requests`);
});
