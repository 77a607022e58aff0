// Loads the files of the program's bundle, which are CommonJS in one folder. When the build left V8's code cache of a file (`x.js.cache`), V8
// uses it instead of compiling, which is a good part of a short start. V8 rejects caches of other versions, processors or flags, and
// compiles then.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';

export type Bundle = {
  /** Returns the exports of a file, which runs once. */
  readonly load: (name: string) => unknown;
  /** The compiled files by path. */
  readonly scripts: ReadonlyMap<string, Script>;
};

export const cacheSuffix = '.cache';

type Module = { exports: unknown };
type Require = (id: string) => unknown;
type Wrapped = (
  exports: unknown,
  require: Require,
  module: Module,
  filename: string,
  directory: string,
) => void;

/** As Node wraps a CommonJS file. */
const head = '(function (exports, require, module, __filename, __dirname) { ';
const tail = '\n})';

export function openBundle(directory: string): Bundle {
  const nodeRequire = createRequire(join(directory, 'main.js'));
  const scripts = new Map<string, Script>();
  const modules = new Map<string, Module>();
  // Node applies source maps only to files that it loads itself.
  if (process.sourceMapsEnabled) return { load: (name) => nodeRequire(`./${name}`), scripts };

  const load = (name: string): unknown => {
    const path = join(directory, name);
    const loaded = modules.get(path);
    if (loaded !== undefined) return loaded.exports;
    const script = compile(path);
    const module = { exports: {} };
    scripts.set(path, script);
    modules.set(path, module);
    const run: Wrapped = script.runInThisContext();
    run(module.exports, require, module, path, directory);
    return module.exports;
  };
  const require: Require = (id) => (id.startsWith('./') ? load(id) : nodeRequire(id));
  return { load, scripts };
}

function compile(path: string): Script {
  const cache = `${path}${cacheSuffix}`;
  return new Script(`${head}${readFileSync(path, 'utf8')}${tail}`, {
    filename: path,
    columnOffset: -head.length,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
}
