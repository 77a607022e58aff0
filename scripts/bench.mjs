// `npm run bench [ROW...] [-- --json --write]`: prepares the clone, then measures it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

await prepare();
const main = join(root, 'dist', 'test', 'bench', 'main.js');
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
