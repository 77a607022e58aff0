// `npm test [LANE...]`: prepares the clone, then runs the lanes in order and stops at the first that fails.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const node = process.execPath;
const lanes = {
  lint: [
    [
      node,
      join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
      'check',
      '--error-on-warnings',
      root,
    ],
  ],
  unit: [[node, '--test', ...tests('src'), ...tests('test/unit')]],
  parts: [[node, '--test', '--test-concurrency=1', ...tests('test/parts'), ...tests('test/crash')]],
  conformance: [[node, '--test', '--test-concurrency=1', ...tests('test/lanes')]],
};

function tests(folder) {
  return [join(root, 'dist', folder, '**', '*.test.js')];
}

prepare();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in lanes));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown lane ${unknown.join(', ')}; there are ${Object.keys(lanes).join(', ')}.\n`,
  );
  process.exit(2);
}
for (const [name, commands] of Object.entries(lanes)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  for (const [command, ...args] of commands) {
    const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) {
      process.stderr.write(`\nLane ${name} failed.\n`);
      process.exit(status ?? 1);
    }
  }
}
