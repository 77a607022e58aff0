// docs/behaviour is the specification: every id that code, tests and documents cite is defined there once, and every
// id that is defined there is in the name of a test. The links to tests are written with FAIRLEAD_UPDATE_DOCS=1.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compareDocument } from './compare-document.ts';

const folder = 'docs/behaviour';
/** Fewer would mean that rules are no longer found. */
const minRules = 485;
/** Have the form of an id and are none. */
const otherNames: ReadonlySet<string> = new Set(['CRC-32', 'UTF-16']);
const isTest = /(\.test\.ts|\.contract\.ts|mode-scenarios\.ts|^test\/.*\.(ts|mjs))$/;

const isSentence = /^(?!#|Tests:|Difference:|Note:).+\.( _Core\._)?$/;

type Page = { readonly file: string; readonly text: string };

const pages: readonly Page[] = readdirSync(folder)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort()
  .map((name) => `${folder}/${name}`)
  .map(read);
const code = filesUnder(['src', 'test'], /\.(ts|mjs)$/);
const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map(read),
  ...filesUnder(['docs', 'src'], /\.md$/).filter(({ file }) => !file.startsWith(`${folder}/`)),
];
const tests = testsById();

test(`${folder} defines each id once`, () => {
  const ids = pages.flatMap(({ text }) => rulesOf(text).map(({ id }) => id));
  assert.ok(ids.length >= minRules, `only ${ids.length} rules were found`);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test(`${folder} says a rule for each id, on one page for each area`, () => {
  const faulty = pages.flatMap(({ file, text }) => {
    const rules = rulesOf(text);
    const areas = new Set(rules.map(({ id }) => id.slice(0, 3)));
    return [
      ...(areas.size === 1 ? [] : [`${file}: ${[...areas].join(', ')}`]),
      ...rules.filter(({ rule }) => !isSentence.test(rule)).map(({ id }) => id),
    ];
  });
  assert.deepEqual(faulty, []);
});

test(`ids that code, tests and documents cite are defined in ${folder}`, () => {
  const defined = new Set(pages.flatMap(({ text }) => rulesOf(text).map(({ id }) => id)));
  const unknown = [...code, ...documents, ...pages].flatMap(({ file, text }) =>
    idsIn(text)
      .filter((id) => !defined.has(id))
      .map((id) => `${file}: ${id}`),
  );
  assert.deepEqual(unknown, []);
});

test(`ids that ${folder} defines are in the name of a test`, () => {
  const ids = pages.flatMap(({ text }) => rulesOf(text).map(({ id }) => id));
  assert.deepEqual(
    ids.filter((id) => !tests.has(id)),
    [],
  );
});

test('comments that cite an id also say what it is about', () => {
  const bare = code.flatMap(({ file, text }) =>
    text
      .split('\n')
      .filter(isBareComment)
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(bare, []);
});

for (const { file, text } of pages) {
  test(`${file} links to the tests that cite its ids`, () => {
    compareDocument(file, withTests(text));
  });
}

test(`${folder}/README.md lists the pages there are`, () => {
  const { file, text } = read(`${folder}/README.md`);
  const rows = inOrderOf(text).map((page) => {
    const title = page.text.split('\n')[0]?.replace('# ', '');
    const rules = rulesOf(page.text);
    const name = page.file.slice(folder.length + 1);
    return `| [${title}](${name}) | ${rules[0]?.id.slice(0, 3)} | ${rules.length} |\n`;
  });
  compareDocument(file, text.replace(/(?:^\| \[.*\n)+/m, rows.join('')));
});

const cited = [
  ['one id', '(KPX-14)', ['KPX-14']],
  ['several', '(KPX-14, NFT-06)', ['KPX-14', 'NFT-06']],
  ['a range', 'KPX-53..55', ['KPX-53', 'KPX-54', 'KPX-55']],
  ['a range in words', 'LBC-11 to LBC-13', ['LBC-11', 'LBC-12', 'LBC-13']],
  ['other names', 'a DNS-1123 label, CVE-2020-8554, UTF-16', []],
] as const;
for (const [title, text, ids] of cited) {
  test(`idsIn() finds ${title}`, () => assert.deepEqual(idsIn(text), ids));
}

for (const [line, isBare] of [
  ['/** KPX-50. */', true],
  ['  // KPX-14, KPX-15 and KPX-16', true],
  ['/** KPX-50: the proxy says that it starts. */', false],
  ["  'a Service without endpoints (KPX-16)',", false],
] as const) {
  test(`isBareComment() of "${line}" is ${isBare}`, () =>
    assert.equal(isBareComment(line), isBare));
}

/** People order the table; pages that it does not have yet come last. */
function inOrderOf(index: string): readonly Page[] {
  const links = [...index.matchAll(/^\| \[.*?\]\((.*?)\)/gm)].map(
    (match) => `${folder}/${match[1]}`,
  );
  const known = links.flatMap((file) => pages.filter((page) => page.file === file));
  return [...known, ...pages.filter((page) => !known.includes(page))];
}

function read(file: string): Page {
  return { file, text: readFileSync(file, 'utf8') };
}

/** Recordings are others' text and cite nothing; this file has ids as examples. */
function filesUnder(folders: readonly string[], form: RegExp): readonly Page[] {
  return folders
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => `${root}/${name}`),
    )
    .filter((file) => form.test(file) && !/^test\/(conformance|unit\/behaviour)/.test(file))
    .sort()
    .map(read);
}

/** The heading and the first paragraph of each rule. */
function rulesOf(text: string): readonly { readonly id: string; readonly rule: string }[] {
  return [...text.matchAll(/^### (.+)\n\n(.*)$/gm)].map(([, id = '', rule = '']) => ({ id, rule }));
}

function idsIn(text: string): readonly string[] {
  const found = text.matchAll(/\b([A-Z]{3})-(\d\d)(?:(?:\.\.| to \1-)(\d\d))?\b/g);
  return [...found].flatMap(([whole, area = '', first = '', last = first]) => {
    if (otherNames.has(whole)) return [];
    const numbers = Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => n);
    return numbers.map((n) => `${area}-${String(Number(first) + n).padStart(2, '0')}`);
  });
}

/** Of each id the files with tests that have it in their names; a comment proves nothing. */
function testsById(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { file, text } of code.filter((page) => isTest.test(page.file))) {
    const ids = new Set(idsIn(text.replaceAll(/^\s*(\/\/|\/\*|\*).*$/gm, '')));
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), file]);
  }
  return found;
}

function isBareComment(line: string): boolean {
  const comment = /^\s*(?:\/\/|\/\*\*?)(.*?)(?:\*\/)?$/.exec(line)?.[1] ?? '';
  return idsIn(comment).length > 0 && /^[\s,.]*$/.test(withoutIds(comment));
}

const withoutIds = (text: string): string =>
  text.replaceAll(/[A-Z]{3}-\d\d(\.\.\d\d)?|\b(and|to)\b/g, '');

/** The page with a line of links at the end of each rule. */
function withTests(page: string): string {
  const parts = page.split(/^(?=##)/m).map((part) => {
    const id = /^### (.+)$/m.exec(part)?.[1];
    if (id === undefined) return part;
    const links = (tests.get(id) ?? []).map((file) => `[${file}](../../${file})`);
    const rule = part.replace(/^Tests: .*$/m, '').trimEnd();
    return `${rule}\n\nTests: ${links.join(', ')}\n\n`;
  });
  return `${parts.join('').trimEnd()}\n`;
}
