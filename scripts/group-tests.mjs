// Tests that need nothing but this process run many files to a process: starting one for each file costs more than the tests.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Writes a file for each folder of the sources that imports the test files below it; returns these files. */
export function groupTests(dist, files) {
  const directory = join(dist, 'test', 'groups');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const groups = new Map();
  for (const file of files) {
    const [top, folder] = dirname(relative(dist, file)).split(sep);
    const name = [top, folder].join('-');
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return [...groups].map(([name, members]) => {
    const entry = join(directory, `${name}.test.js`);
    const imports = members.map((file) => `await import('${relative(directory, file)}');\n`);
    writeFileSync(entry, imports.join(''));
    return entry;
  });
}
