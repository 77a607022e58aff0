// One file for the binary: loading some four hundred modules one by one costs more than all else at start-up.
// `cli/launch.ts` runs before it where a network is wanted, and stays small. Worker threads (`src/**/*-worker.ts`) are started from a file, so each is an entry of its own, at the same path.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './prepare.mjs';

const compiled = join(root, 'dist', 'src');
const workers = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('-worker.js'),
);

/** Large, and loaded only where somebody asks for it: a file of its own, which the program imports when it needs it. */
const sdk = 'cloud/providers/aws/apply-sdk.js';
const apartFromMain = {
  name: 'apart',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\/apply-sdk\.js$/ }, () => ({
      path: `../${sdk}`,
      external: true,
    }));
  },
};

const common = {
  outbase: compiled,
  outdir: join(root, 'dist', 'bundle'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Less to read at start; names stay, for whoever reads a stack trace.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
  },
};

await build({
  ...common,
  entryPoints: [join('cli', 'launch.js'), join('cli', 'main.js'), ...workers].map((file) =>
    join(compiled, file),
  ),
  // Native code is found beside its package.
  external: ['lmdb', 'koffi'],
  plugins: [apartFromMain],
});

await build({
  ...common,
  entryPoints: [join(compiled, sdk)],
  // Its single modules, of which most are left out, instead of one that has everything.
  mainFields: ['module', 'main'],
});
