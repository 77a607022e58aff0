// What `-o json` prints is promised: each page docs/reference/output-NAME.md names every field of its type, and none that is gone.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** The page, and the type of the whole. The types of its fields are found by their imports. */
type PageRow = {
  readonly page: string;
  readonly file: string;
  readonly type: string;
  /** Types that are described elsewhere, such as those of Kubernetes' own kinds. */
  readonly elsewhere?: readonly string[];
};

const rows: readonly PageRow[] = [
  {
    page: 'output-doctor.md',
    file: 'src/doctor/diagnosis-object.ts',
    type: 'DiagnosisObject',
  },
  // Of `Route` only values are printed.
  { page: 'output-trace.md', file: 'src/trace/trace.ts', type: 'Trace', elsewhere: ['Route'] },
  {
    page: 'output-propagation.md',
    file: 'src/propagation/propagation.ts',
    type: 'PropagationOutput',
  },
  { page: 'output-history.md', file: 'src/history/history.ts', type: 'HistoryOutput' },
  {
    page: 'output-what-if.md',
    file: 'src/what-if/what-if.ts',
    type: 'WhatIf',
  },
  { page: 'output-image.md', file: 'src/cli/images/image-output.ts', type: 'ImageList' },
  { page: 'output-top.md', file: 'src/top/top-services.ts', type: 'TopServices' },
];

const folder = 'docs/reference';

test('every page of docs/reference/output-NAME.md is in the table, and every row has its page', () => {
  const pages = readdirSync(folder).filter((name) => name.startsWith('output-'));
  assert.deepEqual(pages.sort(), rows.map(({ page }) => page).sort());
});

for (const row of rows) {
  test(`${folder}/${row.page} names every field of ${row.type}, and no other`, () => {
    const described = describedFields(readFileSync(join(folder, row.page), 'utf8'));
    assert.deepEqual([...described].sort(), [...promisedFields(row)].sort());
  });
}

/** The words in backticks in the first column of tables that begin with `| field |`; of `a.b[].c` the last. */
function describedFields(page: string): ReadonlySet<string> {
  const tables = page.split(/\n\n+/).filter((part) => /^\| field \|/m.test(part));
  const cells = tables.flatMap((table) => [...table.matchAll(/^\| ([^|]*) \|/gm)].slice(1));
  const words = cells.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  return new Set(words.map(([, word = '']) => word.replaceAll('[]', '').split('.').at(-1) ?? ''));
}

/** The names of all fields of a type and of the types that it consists of. */
function promisedFields({ file, type, elsewhere = [] }: PageRow): ReadonlySet<string> {
  const fields = new Set<string>();
  const seen = new Set(elsewhere);
  const waiting = [{ file, type }];
  for (const one of waiting) {
    if (seen.has(one.type)) continue;
    seen.add(one.type);
    const text = withoutComments(readFileSync(one.file, 'utf8'));
    const body = declarationOf(text, one.type);
    if (body === undefined) {
      const source = importOf(text, one);
      if (source === undefined) continue;
      seen.delete(source.type);
      waiting.push(source);
      continue;
    }
    for (const [, field = ''] of body.matchAll(/\breadonly (\w+)\??:/g)) fields.add(field);
    for (const [name] of body.matchAll(/\b[A-Z]\w*/g)) {
      waiting.push({ file: one.file, type: name });
    }
  }
  return fields;
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');

/** What stands after `type NAME =`, up to the next declaration of the file. */
function declarationOf(text: string, type: string): string | undefined {
  const found = new RegExp(`^(?:export )?type ${type}(?:<[^=]*>)? =`, 'm').exec(text);
  if (found === null) return undefined;
  const rest = text.slice(found.index + found[0].length);
  const end = rest.search(/\n(?:export |type |const |(?:async )?function )/);
  // Words in quotes are values, and names of fields of other types are values here.
  return rest.slice(0, end < 0 ? undefined : end).replace(/'[^'\n]*'|\bkeyof \w+/g, '');
}

function importOf(
  text: string,
  { file, type }: { readonly file: string; readonly type: string },
): { readonly file: string; readonly type: string } | undefined {
  for (const [, names = '', source = ''] of text.matchAll(
    /^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm,
  )) {
    for (const [, original = '', alias = original] of names.matchAll(
      /(\w+)(?: as (\w+))?\s*(?:,|$)/g,
    )) {
      if (alias === type) return { file: join(dirname(file), source), type: original };
    }
  }
  return undefined;
}

test('promisedFields() follows types into other files, and describedFields() reads tables only', () => {
  const [row] = rows;
  assert.ok(row !== undefined);
  const fields = promisedFields(row);
  for (const name of ['findings', 'evidence', 'patch', 'reason']) assert.ok(fields.has(name), name);
  const page = 'Not `this`.\n\n| field | meaning |\n| --- | --- |\n| `a.b[].c`, `d` | not `e` |\n';
  assert.deepEqual([...describedFields(page)], ['c', 'd']);
});
