import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml, parseYamlStream } from './yaml.ts';

const refused: readonly [string, string, string][] = [
  ['an unknown alias', 'a: *x', "yaml: unknown anchor 'x' referenced"],
  [
    'too many aliases',
    `- &a {b: c}\n${'- *a\n'.repeat(120)}`,
    'yaml: document contains excessive aliasing',
  ],
  [
    'a merge of a scalar',
    'a: 1\n<<: x',
    'yaml: map merge requires map or sequence of maps as the value',
  ],
  ['flow lists without end', '['.repeat(100_000), 'yaml: exceeded max depth'],
  ['maps in maps', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'yaml: exceeded max depth'],
  ['block lists on one line', `${'- '.repeat(100_000)}x`, 'yaml: exceeded max depth'],
  ['keys of keys', `${'? '.repeat(5000)}x`, 'yaml: exceeded max depth'],
];

for (const [name, text, error] of refused) {
  test(`parseYaml() refuses ${name}`, () => {
    assert.deepEqual(parseYaml(text), { error });
  });
}

test('parseYamlStream() refuses a document that nests too deep', () => {
  assert.deepEqual(parseYamlStream(`a: b\n---\n${'['.repeat(1000)}`), [
    { error: 'yaml: exceeded max depth', line: 1, itemLines: [] },
  ]);
});

test('parseYamlStream() reports the line where each value begins', () => {
  const text = '# a comment\na: b\n---\n---\n# another\n\nc: d\n---\ne: [\n';
  assert.deepEqual(
    parseYamlStream(text).map((parsed) => ['error' in parsed, parsed.line]),
    [
      [false, 2],
      [false, 7],
      [true, 9],
    ],
  );
});

test('parseYaml() reads long documents that are not deep', () => {
  const text = `data: |\n${'  [[[[[[{{{{\n'.repeat(200)}`;
  assert.ok('value' in parseYaml(text));
});

test('parseYaml() reads many keys of one map in linear time', () => {
  const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: v`);
  const parsed = parseYaml([...keys, 'k7: w', ''].join('\n'));
  assert.ok('value' in parsed);
  assert.equal(Object.keys(parsed.value as object).length, 10_000);
  assert.equal((parsed.value as Record<string, string>).k7, 'w');
  assert.deepEqual(parsed.duplicates, ['line 10001: key "k7" already set in map']);
});

test('parseYaml() refuses too many values, but reads a long text', () => {
  const error = 'yaml: document contains too many values';
  assert.deepEqual(parseYaml(`a: [${'[],'.repeat(60_000)}[]]`), { error });
  assert.deepEqual(parseYaml('- a\n'.repeat(60_000)), { error });
  const text = 'a: [b], c: {d: e}\n'.repeat(60_000);
  const parsed = parseYaml(`a: |\n  ${text.trimEnd().replaceAll('\n', '\n  ')}\n`);
  assert.deepEqual('value' in parsed && parsed.value, { a: text });
});

test('parseYaml() reads the first document alone, as the API server does', () => {
  const parsed = parseYaml('a: b\n---\nc: [\n');
  assert.deepEqual('value' in parsed && parsed.value, { a: 'b' });
});

test('parseYaml() reads base-60 numbers as text, and both forms of octal numbers', () => {
  const parsed = parseYaml('{a: 12:30, b: 1:2:3.5, c: 0o17, d: 017, e: -0o7, f: 0x1f}');
  const wanted = { a: '12:30', b: '1:2:3.5', c: 15, d: 15, e: -7, f: 31 };
  assert.deepEqual('value' in parsed && parsed.value, wanted);
});

test('parseYaml() reports a duplicate key with the line of its value', () => {
  const parsed = parseYaml('a:\n  b: 1\na:\n  c: 2\n5: x\n5: y\n');
  assert.deepEqual('value' in parsed && parsed.duplicates, [
    'line 4: key "a" already set in map',
    'line 6: key 5 already set in map',
  ]);
});
