// Copies the conformance recordings and runners from their original, where it is at hand.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './prepare.mjs';

const original = process.argv[2] ?? join(root, '..', 'shared', 'conformance');
if (!existsSync(original)) {
  process.stderr.write(
    `Cannot copy from "${original}": there is nothing. Give the path of the recordings.\n`,
  );
  process.exit(1);
}
const copy = join(root, 'test', 'conformance');
rmSync(copy, { recursive: true, force: true });
cpSync(original, copy, { recursive: true });
