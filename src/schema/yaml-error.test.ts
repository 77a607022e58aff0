import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from './yaml.ts';

const cases: readonly [string, string, string][] = [
  ['an open list', 'a: [', 'yaml: line 1: did not find expected node content'],
  ['an open list and a line end', 'a: [\n', 'yaml: line 1: did not find expected node content'],
  ['a list cut off after an item', 'a: [1', "yaml: line 1: did not find expected ',' or ']'"],
  ['a map cut off', '{"a":1', "yaml: line 1: did not find expected ',' or '}'"],
  ['a map cut off before a value', '{"a":', 'yaml: line 1: did not find expected node content'],
  ['items without a comma', '{"a" 1}', "yaml: did not find expected ',' or '}'"],
  ['two colons in a line', 'a: b: c', 'yaml: mapping values are not allowed in this context'],
  [
    'a key indented too far',
    'a: b\nkind: c\n metadata:\n  d: e\n',
    'yaml: line 3: mapping values are not allowed in this context',
  ],
  ['a key indented too little', 'a:\n  b: 1\n c: 2\n', 'yaml: line 2: did not find expected key'],
  ['a line without a colon', 'a: 1\nfoo\nb: 2\n', "yaml: line 3: could not find expected ':'"],
  ['a last line without a colon', 'a: b\nc\n', "yaml: line 3: could not find expected ':'"],
  ['an open quote', 'a: "b', 'yaml: found unexpected end of stream'],
  ['an open quote over lines', "a: 'b\nc: d\n", 'yaml: line 3: found unexpected end of stream'],
  ['a tab', 'a: 1\nb:\n\tc: 2\n', 'yaml: line 3: found character that cannot start any token'],
  ['a reserved sign', 'a: @b\n', 'yaml: found character that cannot start any token'],
  ['a bracket that closes nothing', 'a: }\n', 'yaml: did not find expected node content'],
  ['a bracket too many', 'a: 1\nb: [c]]\n', 'yaml: line 1: did not find expected key'],
  ['a map after a list', '- a\nb: c\n', "yaml: line 1: did not find expected '-' indicator"],
  ['a list after a map', 'a: b\n- c\n', 'yaml: line 1: did not find expected key'],
  [
    'a list behind a key',
    'a: 1\nb: - c\n',
    'yaml: line 2: block sequence entries are not allowed in this context',
  ],
];

for (const [name, text, error] of cases) {
  test(`goYamlError() of ${name} equals Go's message`, () => {
    assert.deepEqual(parseYaml(text), { error });
  });
}
