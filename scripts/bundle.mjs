// A few files for the binary: loading some thousand modules one by one costs more than all else at start-up, and so does one file with
// what the command at hand does not use. `cli/commands/network.ts` is loaded when it is asked for and shares chunks, all in one folder (`cli/`), so
// that paths relative to a file mean the same in each. `cli/launch.ts` runs before all where a network is wanted, and stays small.
// Worker threads (`src/**/*-worker.ts`) are started from a file, so each is an entry of its own, at the same path.
// All of it is CommonJS, the only form for which V8 takes compiled code from a file (`src/cli/load-bundle.ts`, decision 22).
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import { keepCompiled } from './keep-compiled.mjs';
import { root } from './prepare.mjs';

const compiled = join(root, 'dist', 'src');
const bundle = join(root, 'dist', 'bundle');
const workers = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('-worker.js'),
);

/** Large and loaded on demand: bundled as a file of its own, which the program imports when it needs it. */
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

const toCommonJs = {
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Less code to load at start; names are kept for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  define: { 'import.meta.url': 'fileUrl' },
  // Files that are loaded on demand have the same form: the bundle's own `require` finds them.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
};

const fileUrl = "const fileUrl = require('node:url').pathToFileURL(__filename).href;";

const common = {
  ...toCommonJs,
  banner: { js: fileUrl },
  outbase: compiled,
  outdir: bundle,
  bundle: true,
  sourcemap: 'linked',
};

// Native code is found beside its package.
const program = { ...common, external: ['lmdb', 'koffi'], plugins: [apartFromMain] };

/** The static imports of chunks, as esbuild writes them. */
const chunkImport = /(?<=^|[;\n])import(?:(\{[^}]*\})from)?"(\.\/[^"]+)";/g;

rmSync(bundle, { recursive: true, force: true });
await bundleProgram(['launch.js', 'load-bundle.js', 'main.js']);
await build({ ...program, entryPoints: workers.map((file) => join(compiled, file)) });
await build({
  ...common,
  entryPoints: [join(compiled, sdk)],
  // Its single modules, of which most are left out, instead of one that has everything.
  mainFields: ['module', 'main'],
});
writeFileSync(join(bundle, 'package.json'), '{ "type": "commonjs" }\n');
await keepCompiled(join(bundle, 'cli'));

/** Chunks can be made of ES modules only, so they become CommonJS one by one afterwards. */
async function bundleProgram(entries) {
  const { banner: _, define: __, supported: ___, ...asModules } = program;
  const { outputFiles } = await build({
    ...asModules,
    entryPoints: entries.map((file) => join(compiled, 'cli', file)),
    format: 'esm',
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    sourcemap: 'inline',
    write: false,
  });
  refuseCycles(outputFiles);
  for (const { path, text } of outputFiles) {
    const banner = text.includes('import.meta.url') ? fileUrl : '';
    const { code, map } = await transform(bindImports(text), {
      ...toCommonJs,
      define: { ...toCommonJs.define, $req: 'require' },
      banner,
      sourcemap: 'external',
    });
    const mapName = `${basename(path)}.map`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${code}//# sourceMappingURL=${mapName}\n`);
    writeFileSync(join(dirname(path), mapName), map);
  }
}

/**
 * Takes what a file imports from other chunks once, when it is loaded. As CommonJS by esbuild's rules, every use of it would call two getters, one of
 * which is shared by all exports of all chunks: 2 to 8% of a request. What is bound has the same length, so that the source map stays true.
 */
function bindImports(text) {
  return text.replace(chunkImport, (_, names, chunk) =>
    names === undefined
      ? `$req("${chunk}");`
      : `var${names.replaceAll(' as ', ':   ')}=$req("${chunk}");`,
  );
}

/** What is bound when a file is loaded must be there by then. */
function refuseCycles(files) {
  const imports = new Map(
    files.map(({ path, text }) => [
      path,
      [...text.matchAll(chunkImport)].map(([, , chunk]) => join(dirname(path), chunk)),
    ]),
  );
  const done = new Set();
  const visit = (path, importers) => {
    if (importers.includes(path))
      throw new Error(
        `Chunks import each other: ${[...importers, path].map((one) => basename(one)).join(', ')}`,
      );
    if (done.has(path)) return;
    for (const imported of imports.get(path) ?? []) visit(imported, [...importers, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
}
