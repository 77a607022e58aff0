// A few files for the binary: loading some thousand modules one by one costs more than all else at start-up, and so does one file with
// what the command at hand does not use. `cli/commands/network.ts` is loaded when it is asked for and shares chunks, all in one folder (`cli/`), so
// that paths relative to a file mean the same in each. `cli/launch.ts` runs before all where a network is wanted, and stays small.
// Worker threads (`src/**/*-worker.ts`) are started from a file, so each is an entry of its own, at the same path.
import { readdirSync, rmSync } from 'node:fs';
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

// Native code is found beside its package.
const program = { ...common, external: ['lmdb', 'koffi'], plugins: [apartFromMain] };

rmSync(common.outdir, { recursive: true, force: true });
await build({
  ...program,
  entryPoints: ['launch.js', 'main.js'].map((file) => join(compiled, 'cli', file)),
  splitting: true,
  chunkNames: 'cli/[name]-[hash]',
});
await build({ ...program, entryPoints: workers.map((file) => join(compiled, file)) });

await build({
  ...common,
  entryPoints: [join(compiled, sdk)],
  // Its single modules, of which most are left out, instead of one that has everything.
  mainFields: ['module', 'main'],
});
