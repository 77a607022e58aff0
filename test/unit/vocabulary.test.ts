// The words of STYLE.md, section 4: names, comments, messages and documents use the words of the
// field. What is listed here was used before, and is not to come back.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** Words that no name of ours contains: in camelCase, PascalCase or the name of a file. */
const bannedInNames = new Map([
  ...each('wish wishes wished', 'request, options, spec'),
  ...each('door doors', 'listener'),
  ...each('heard hears hear', 'observed, received'),
  ...each('told tell tells', 'notify, report'),
  ...each('news', 'event, change'),
  ...each('look looks looked', 'resync, check, read'),
  ...each('place places', 'slot, position, location'),
  ...each('turn turns', 'lock, slice, round'),
  ...each('homeless', 'without a node'),
  ...each('crowd', 'burst'),
  ...each('departure', 'disconnect'),
  ...each('heirs', 'successors'),
  ...each('amounts', 'quantities, resources'),
  ...each('stranger strangers', 'other program, anonymous client'),
  ...each('asker askers asked', 'requester, requested'),
  ...each('nobody somebody anybody whoever', 'who it is'),
  ...each('thing things', 'its name'),
  ...each('mine theirs', 'own, other'),
]);

/** Words that no name of ours starts with. */
const bannedFirst = new Map([
  ...each('most longest', 'max'),
  ...each('least fewest shortest', 'min'),
  ...each('usual', 'default'),
]);

/** What no comment, message, title or document says. */
const bannedPhrases: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bof before\b(?![.?)])/i, 'previous'], // Not `of before)` in code.
  [/\basks? us back\b/i, 'forwarding loop'],
  [/\bbroke, starting\b/i, 'failed, restarting'],
  [/\bgoes by itself\b/i, 'expires'],
  [/\bdoors?\b/i, 'listener'],
  [/\bhomeless\b/i, 'without a node'],
  [/\b(?:wish|wishes|wished)\b/i, 'request, want'],
  [/\bheirs?\b/i, 'successor'],
  [/\bcrowds?\b/i, 'burst'],
  [/\b(?:nobody|somebody|whoever)\b/i, 'who it is'],
  [/\bstrangers?\b/i, 'another program, an anonymous client'],
  [/\b(?:was|were|is|are|be) told\b/i, 'is notified'],
  [/\bstorage engines?\b/i, 'storage backend'],
];

const exceptions: readonly RegExp[] = [
  /^test\/unit\/vocabulary\.test\.ts$/,
  /^STYLE\.md$/, // It lists the words.
  /^CHANGELOG\.md$/, // What was said then.
  /^test\/conformance/, // Copies of recordings, which stay as they are.
];

function each(words: string, instead: string): [string, string][] {
  return words.split(' ').map((word) => [word, instead]);
}

const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !exceptions.some((e) => e.test(file)));

const isCode = (file: string): boolean => !file.endsWith('.md');

/** Names of other programs. */
const othersNames = new Set(['eventTurnBatching']);

function wordsOf(name: string): string[] {
  const parts = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  return parts.map((part) => part.toLowerCase());
}

function problemOf(name: string): string | undefined {
  if (othersNames.has(name)) return undefined;
  const words = wordsOf(name);
  const first = words.length > 1 ? bannedFirst.get(words[0] ?? '') : undefined;
  if (first !== undefined) return `"${name}": say ${first}`;
  // To look a value up is the field's word.
  const found = words.find((word, at) => {
    return bannedInNames.has(word) && !(word === 'look' && words[at + 1] === 'up');
  });
  return found && `"${name}": not "${found}" but ${bannedInNames.get(found)}`;
}

/** Without comments and quoted strings: what is left are names and template literals. */
function namesOf(text: string): Set<string> {
  const code = text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replace(/\/\/.*$/gm, '');
  return new Set(code.match(/[A-Za-z_$][\w$]*/g));
}

test('names are made of the field’s words', () => {
  const found = files.filter(isCode).flatMap((file) => {
    const names = [file, ...namesOf(readFileSync(file, 'utf8'))];
    return names.flatMap((name) => {
      const problem = problemOf(name);
      return problem === undefined ? [] : [`${file}: ${problem}`];
    });
  });
  assert.deepEqual(found, []);
});

test('comments, messages and documents are written in the field’s words', () => {
  const found = files.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((line, at) =>
      // Names of recorded scenarios are quoted as they are.
      (line.includes('`test/conformance/') ? [] : bannedPhrases).flatMap(([pattern, instead]) => {
        const match = pattern.exec(line);
        return match === null ? [] : [`${file}:${at + 1}: not "${match[0]}" but ${instead}`];
      }),
    );
  });
  assert.deepEqual(found, []);
});

test('log messages start with a capital letter and end without a period', () => {
  const pattern = /\blog\.(?:error|warn|info|debug)\(\s*(['`])(.*?)\1/g;
  const found = files.filter(isCode).flatMap((file) => {
    const messages = [...readFileSync(file, 'utf8').matchAll(pattern)].map((m) => m[2] ?? '');
    return messages.filter((m) => !/^[A-Z]/.test(m) || m.endsWith('.')).map((m) => `${file}: ${m}`);
  });
  assert.deepEqual(found, []);
});
