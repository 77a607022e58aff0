// docs/service-documentation.md names a test for each promise: files and names must be there, so that the page cannot rot.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = 'docs/service-documentation.md';
const isTest = /(\.test\.ts|\.contract\.ts|scenarios\.mjs)$/;
/** Fewer would mean that rows are no longer found. */
const minRows = 350;

type Proof = { readonly row: string; readonly file: string; readonly name: string };

test(`${page} has a proof for each promise`, () => {
  const rows = rowsOf(readFileSync(page, 'utf8'));
  assert.ok(rows.length >= minRows, `only ${rows.length} rows were found`);
  const faulty = rows.filter((cells) => {
    return cells.length !== 3 || cells.includes('') || proofsOf(cells).length === 0;
  });
  assert.deepEqual(faulty, []);
});

test(`${page} names each promise once in its chapter`, () => {
  const chapters = readFileSync(page, 'utf8').split(/^## /m);
  const repeated = chapters.flatMap((chapter) => {
    const promises = rowsOf(chapter).map(([promise = '']) => promise);
    return promises.filter((promise, index) => promises.indexOf(promise) !== index);
  });
  assert.deepEqual(repeated, []);
});

test(`tests that ${page} names are there`, () => {
  const proofs = rowsOf(readFileSync(page, 'utf8')).flatMap(proofsOf);
  const names = new Map<string, string>();
  const missing = proofs.filter(({ file, name }) => {
    if (!isTest.test(file) || !existsSync(file)) return true;
    const text = names.get(file) ?? asOnPage(readFileSync(file, 'utf8'));
    names.set(file, text);
    return !["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`));
  });
  assert.deepEqual(missing, []);
});

const named = `const cases = [\`\${who} can\\'t do it\`, "plain"];`;
for (const [name, isThere] of [
  ["… can't do it", true],
  ['plain', true],
  ['plai', false],
] as const) {
  test(`asOnPage() of a file ${isThere ? 'has' : 'has not'} the name "${name}"`, () => {
    const found = ['`', '"'].some((quote) => asOnPage(named).includes(`${quote}${name}${quote}`));
    assert.equal(found, isThere);
  });
}

/** The cells of each row of the page's tables, without heads. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (promise|---) /.test(line))
    .map((line) =>
      line
        .replace(/^\| | \|$/g, '')
        .split(/ (?<!\\)\| /)
        .map((cell) => cell.trim()),
    );
}

/** `file`: name, separated by line breaks; nothing where one of them is not of that form. */
function proofsOf([row = '', , cell = '']: readonly string[]): readonly Proof[] {
  const proofs = cell.split('<br>').map((text) => /^`([^`]+)`: (.+)$/.exec(text));
  return proofs.flatMap((match) => {
    const [, file = '', name = ''] = match ?? [];
    return match === null ? [] : [{ row, file, name: name.replaceAll('\\|', '|') }];
  });
}

/** What a table fills in is written as dots, quotes as they are read. */
function asOnPage(source: string): string {
  return source.replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(['"`])/g, '$1');
}
