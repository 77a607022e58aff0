// Copies of the compiled program with one file changed: what decides nothing by itself must answer otherwise then.
import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = fileURLToPath(new URL('../../../', import.meta.url));
/** The program itself. */
export const rightProgram = join(dist, 'src');

export type Edit = {
  readonly file: string;
  /** Once in the file. */
  readonly find: string;
  readonly replace: string;
};

/** By links, beside the program, so that packages are found. */
export function makeMutant({ file, find, replace }: Edit, folders: readonly string[]): string {
  const root = mkdtempSync(join(dist, '.mutant-'));
  for (const folder of folders) {
    const files = readdirSync(join(rightProgram, folder), { recursive: true, encoding: 'utf8' });
    for (const one of files.filter((name) => name.endsWith('.js') && !name.endsWith('.test.js'))) {
      const path = join(root, folder, one);
      mkdirSync(dirname(path), { recursive: true });
      linkSync(join(rightProgram, folder, one), path);
    }
  }
  const text = readFileSync(join(rightProgram, file), 'utf8');
  assert.equal(text.split(find).length, 2, `${file} has "${find}" once`);
  // The link goes first: the program itself must not change.
  unlinkSync(join(root, file));
  writeFileSync(join(root, file), text.replace(find, replace));
  return root;
}

export const loadFrom = <T>(program: string, file: string): Promise<T> =>
  import(pathToFileURL(join(program, file)).href) as Promise<T>;
