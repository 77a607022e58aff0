import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { diskUsage } from './disk-usage.ts';

const plenty = Number.MAX_SAFE_INTEGER;
const mebibyte = Buffer.alloc(1024 ** 2, 1);

test('diskUsage() counts each file once, follows no links, and stops above the limit', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'usage-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const top = join(directory, 'top');
  mkdirSync(join(top, 'a', 'b'), { recursive: true });
  writeFileSync(join(directory, 'outside'), Buffer.alloc(5 * 1024 ** 2, 1));
  writeFileSync(join(top, 'a', 'b', 'one'), mebibyte);
  writeFileSync(join(top, 'two'), mebibyte);
  linkSync(join(top, 'two'), join(top, 'again'));
  symlinkSync(directory, join(top, 'a', 'elsewhere'));
  const bytes = await diskUsage(top, plenty);
  assert.ok(bytes >= 2 * mebibyte.length && bytes < 2.5 * mebibyte.length, String(bytes));
  assert.ok((await diskUsage(top, 1)) < bytes);
  assert.equal(await diskUsage(join(top, 'missing'), plenty), 0);
  symlinkSync(top, join(directory, 'link'));
  assert.equal(await diskUsage(join(directory, 'link'), plenty), 0);
});

test('diskUsage() stops at a depth limit', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'usage-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, ...Array.from({ length: 200 }, () => 'd')), { recursive: true });
  assert.ok((await diskUsage(directory, plenty)) >= 0);
});
