import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeVolumeFiles } from './write-volume-files.ts';

const file = (text: string, mode = 0o644) => ({ bytes: Buffer.from(text), mode });

test('writeVolumeFiles() replaces all files by renaming one link', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'volume-'));
  t.after(() => rm(directory, { recursive: true }));
  const text = (path: string) => readFile(join(directory, path), 'utf8');
  assert.equal(
    await writeVolumeFiles(directory, { a: file('1'), 'sub/b': file('2', 0o400) }),
    true,
  );
  assert.deepEqual([await text('a'), await text('sub/b')], ['1', '2']);
  assert.equal((await stat(join(directory, 'sub/b'))).mode & 0o777, 0o400);
  const before = await readlink(join(directory, '..data'));

  assert.equal(await writeVolumeFiles(directory, { a: file('1'), 'sub/b': file('2') }), false);
  assert.equal(await readlink(join(directory, '..data')), before);

  assert.equal(await writeVolumeFiles(directory, { a: file('3'), c: file('4') }), true);
  assert.deepEqual([await text('a'), await text('c')], ['3', '4']);
  const now = await readlink(join(directory, '..data'));
  assert.notEqual(now, before);
  assert.deepEqual((await readdir(directory)).sort(), ['..data', now, 'a', 'c'].sort());
});
