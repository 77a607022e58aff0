// Every check has a page, and every page a check.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allChecks } from '../../src/doctor/all-checks.ts';
import { compareDocument } from './compare-document.ts';

const pages = readdirSync('docs/doctor').filter((file) => file !== 'README.md');
const codes = allChecks.map(({ code }) => code);

test('docs/doctor has a page for every check, and no other', () => {
  assert.deepEqual(pages.sort(), codes.map((code) => `${code}.md`).sort());
});

test('codes are different, and of their group', () => {
  assert.deepEqual([...new Set(codes)], codes);
  for (const code of codes) assert.match(code, /^FL0[1-9]\d\d$/);
});

for (const { code, title, scope } of allChecks) {
  test(`docs/doctor/${code}.md has the title of the check, and how to see and fix it`, () => {
    const text = readFileSync(`docs/doctor/${code}.md`, 'utf8');
    assert.equal(text.split('\n')[0], `# ${code}: ${title}`);
    for (const part of ['**How it comes about.**', '**How to see it.**', '**How to fix it.**']) {
      assert.ok(text.includes(part), part);
    }
    assert.match(text, /\n {4}kubectl /, 'a command that shows it');
    assert.ok(scope === 'service' || scope === 'cluster');
  });
}

const groups: Readonly<Record<string, string>> = {
  '01': 'Selectors',
  '02': 'Ports',
  '03': 'Endpoints and readiness',
  '04': 'Traffic policies',
  '05': 'DNS and names',
  '06': 'Addresses and load balancers',
  '07': 'Hand-made endpoints',
  '08': 'Environment, and what was applied',
  '09': 'Capacity, and the parts themselves',
};

test('docs/doctor/README.md lists the checks', () => {
  const lists = Object.entries(groups).flatMap(([group, title]) => {
    const checks = allChecks.filter(({ code }) => code.startsWith(`FL${group}`));
    if (checks.length === 0) return [];
    const rows = [...checks]
      .sort((a, b) => (a.code < b.code ? -1 : 1))
      .map((one) => `| [${one.code}](${one.code}.md) | ${one.severity} | ${one.title} |`);
    return [
      `## ${title}\n\n| code | severity | finding |\n| --- | --- | --- |\n${rows.join('\n')}\n`,
    ];
  });
  compareDocument(
    'docs/doctor/README.md',
    `# What \`fairlead doctor\` finds\n\n${introduction}\n\n${lists.join('\n')}`,
  );
});

const introduction = `\`error\`: traffic fails, or goes where it should not. \`warning\`: likely a mistake, or it fails on the next change. \`info\`: good to know. A case can be less severe than
its check: a failing pod beside others that are ready is a warning. \`fairlead doctor --explain CODE\` prints a page.`;
