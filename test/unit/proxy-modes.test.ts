// CONTRIBUTING says that a new proxy mode is a folder in src/proxy/modes and a line in its all.ts. That is so as long as no
// other code names a mode.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { allModes } from '../../src/proxy/modes/all.ts';

const root = join(process.cwd(), 'src');
const folders = ['proxy', 'flags', 'cli', 'up', 'node', 'join'];
const literal = new RegExp(`(['"\`])(?:${allModes.map(({ name }) => name).join('|')})\\1`, 'g');
const moduleOfMode = /from '[^']*\/modes\/[a-z-]+\/[^']*'/g;

test('no code outside of src/proxy/modes names a proxy mode or imports one', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  );
  const others = files.filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith('proxy/modes/'),
  );
  assert.ok(others.length > 100);
  const found = others.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(literal), ...text.matchAll(moduleOfMode)].map(
      ([match]) => `${file}: ${match}`,
    );
  });
  assert.deepEqual(found, []);
});
