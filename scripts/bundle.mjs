// One file for the binary: loading some four hundred modules one by one costs more than all else at start-up.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './prepare.mjs';

await build({
  entryPoints: [join(root, 'dist', 'src', 'cli', 'main.js')],
  outfile: join(root, 'dist', 'bundle', 'cli', 'main.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Native code is found beside its package.
  external: ['lmdb'],
  sourcemap: 'linked',
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
  },
});
