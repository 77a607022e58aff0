// No text makes a regular expression of this program take more than a constant for each character: all of them are
// found in the sources, proved by their automata, and tried on hostile texts.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildAutomaton, costOf } from './expressions/automaton.ts';
import { parseExpression } from './expressions/parse-expression.ts';
import type { Expression, Findings } from './expressions/run-hostile-texts.ts';
import { scanSource } from './expressions/scan-source.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const sources = (readdirSync(join(root, 'src'), { recursive: true }) as string[])
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, ...scanSource(readFileSync(join(root, 'src', path), 'utf8')) }));

/** Modules that build expressions while they load, where the recording constructor sees them. */
const builders = [
  'apiserver/limits/request-timeout.ts',
  'meta/conditions.ts',
  'meta/names.ts',
] as const;

async function judge(literals: readonly Expression[], modules: readonly string[] = []) {
  const program = fileURLToPath(new URL('./expressions/run-hostile-texts.js', import.meta.url));
  const task = JSON.stringify({
    literals,
    modules: modules.map((path) => path.replace(/ts$/, 'js')),
  });
  const { stdout } = await promisify(execFile)(process.execPath, [program, task], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Findings;
}

describe('regular expressions', () => {
  it('are literals, or built where a module loads', () => {
    const constructed = sources.filter(({ constructed }) => constructed.length > 0);
    assert.deepEqual(constructed.map(({ path }) => path).sort(), [...builders]);
  });

  it('are linear, all of them', async () => {
    const literals = sources.flatMap(({ path, literals }) =>
      literals.map(({ line, source, flags }) => ({ where: `src/${path}:${line}`, source, flags })),
    );
    const { slow, built, tried } = await judge(literals, builders);
    assert.deepEqual(slow, []);
    assert.ok(literals.length > 200, `only ${literals.length} found`);
    assert.ok(built.length >= builders.length, `only ${built.length} built`);
    assert.ok(tried > literals.length, `only ${tried} texts tried`);
  });
});

/** Each has stopped a server or could have. */
const wild: Readonly<Record<string, string>> = {
  'a quantity': '^([+-]?)([0-9]*)(?:\\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$',
  'a certificate request':
    '^\\s*-----BEGIN CERTIFICATE REQUEST-----\\s+([A-Za-z0-9+/=\\s]+?)\\s*-----END CERTIFICATE REQUEST-----\\s*$',
  'a block of PEM': '-----BEGIN CERTIFICATE-----[\\s\\S]+-----END CERTIFICATE-----',
  'stars at the end': '\\*+$',
  'nested repetition': '^(a+)+$',
  'a repeated choice': '^(?:a|[ab])*$',
  'an empty repetition': '^(?:a*)*$',
  'a class in two copies': '^(?:[a-z]{1,5})*$',
};

describe('the judgement of expressions', () => {
  for (const [name, source] of Object.entries(wild)) {
    it(`refuses the expression of ${name}`, () => {
      const cost = costOf(buildAutomaton(parseExpression(source, ''), ''));
      assert.match(cost ?? '', /quadratic|exponential/);
    });
  }

  it('sees the time that they take', async () => {
    const names = ['a quantity', 'a certificate request'];
    const { slow } = await judge(
      names.map((name) => ({ where: name, source: wild[name] ?? '', flags: '' })),
    );
    for (const name of names) {
      assert.ok(slow.some((text) => text.startsWith(name) && text.includes('too long on')));
    }
  });

  it('tells expressions from divisions, and looks into templates', () => {
    const text = `const a = b / c / d; // /x/\nf(\`\${e.replace(/y/g, '/z/')}\`);\nreturn /[/]w/;`;
    assert.deepEqual(scanSource(text).literals, [
      { line: 2, source: 'y', flags: 'g' },
      { line: 3, source: '[/]w', flags: '' },
    ]);
  });
});
