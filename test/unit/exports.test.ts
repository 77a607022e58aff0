// What a file exports is what other files use: an export that no file imports is dead, or belongs to its file alone.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** Loaded by name at run time. */
const loadedByName = new Set(['src/cli/launch.ts launch', 'src/cli/main.ts main']);

const folders = ['src', 'test', 'scripts'];
const sources = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name) && !name.startsWith('conformance/'))
    .map((name) => join(folder, name)),
);
const texts = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]));

const imported =
  /(?:^|\n)(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|(\*)[^'"]*)\s+from\s+'(\.[^']+)'/g;
/** `import('./x.ts')`, and scripts in strings that import what is compiled. */
const loaded = /(?:import\(|new URL\(|url\()\s*'(\.[^']+)'/g;
const exported = /^export (?:async )?(?:const|let|function\*?|class) ([A-Za-z0-9_]+)/gm;

function targetOf(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
}

/** file → names that others import; `*` where all of it is taken. */
function usedNames(): Map<string, Set<string>> {
  const used = new Map<string, Set<string>>();
  const use = (file: string, name: string): void => {
    used.set(file, (used.get(file) ?? new Set()).add(name));
  };
  for (const [file, text] of texts) {
    for (const [, names, star, specifier = ''] of text.matchAll(imported)) {
      const target = targetOf(file, specifier);
      if (star !== undefined) use(target, '*');
      for (const name of (names ?? '').split(',')) {
        use(
          target,
          name
            .replace(/^\s*type\s/, '')
            .trim()
            .split(/\s/)[0] ?? '',
        );
      }
    }
    for (const [, specifier = ''] of text.matchAll(loaded)) use(targetOf(file, specifier), '*');
  }
  return used;
}

test('every value that src exports is imported by another file', () => {
  const used = usedNames();
  const dead = [...texts].flatMap(([file, text]) => {
    const names = used.get(file) ?? new Set();
    if (!file.startsWith('src/') || names.has('*')) return [];
    return [...text.matchAll(exported)]
      .map(([, name = '']) => name)
      .filter((name) => !names.has(name) && !loadedByName.has(`${file} ${name}`))
      .map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(dead, []);
});
