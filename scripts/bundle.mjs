// One file for the binary: loading some four hundred modules one by one costs more than all else at start-up.
// Worker threads (`src/**/*-worker.ts`) are started from a file, so each is an entry of its own, at the same path.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './prepare.mjs';

const compiled = join(root, 'dist', 'src');
const workers = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('-worker.js'),
);

await build({
  entryPoints: [join('cli', 'main.js'), ...workers].map((file) => join(compiled, file)),
  outbase: compiled,
  outdir: join(root, 'dist', 'bundle'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Native code is found beside its package.
  external: ['lmdb', 'koffi'],
  // Less to read at start; names stay, for whoever reads a stack trace.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
  },
});
