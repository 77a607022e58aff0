// The harness itself: what it builds is what programs of others read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildImage, layerOf } from '../harness/images/build-image.ts';
import { registryMissing, startRegistry } from '../harness/images/registry-process.ts';

test('tar reads what tarOf() writes', () => {
  const long = `${'directory/'.repeat(12)}file`;
  const { content } = layerOf([
    { name: 'a', content: 'one' },
    { name: 'b', type: 'symlink', target: 'a' },
    { name: long, content: 'two' },
    { name: 'c', content: 'three', pax: { 'SCHILY.xattr.user.x': 'y', path: 'renamed' } },
  ]);
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-tar-'));
  try {
    const listed = execFileSync('tar', ['tz'], { input: content, cwd: directory });
    assert.deepEqual(listed.toString().trim().split('\n'), ['a', 'b', long, 'renamed']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a registry takes an image', { skip: registryMissing() ?? false }, async () => {
  const registry = await startRegistry({ hasPassword: true });
  try {
    await registry.push('a/b:1', buildImage({ layers: [layerOf([{ name: 'x' }])] }));
    const { status } = await fetch(`http://${registry.host}/v2/a/b/manifests/1`);
    assert.equal(status, 401);
  } finally {
    await registry.stop();
  }
});
