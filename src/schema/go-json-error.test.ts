import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goJsonParseError } from './go-json-error.ts';

const cases: readonly (readonly [string, string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"kind":"Service",', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['[1,', 'unexpected end of JSON input'],
  ['tru', 'unexpected end of JSON input'],
  ['-', 'unexpected end of JSON input'],
  ['1.', 'unexpected end of JSON input'],
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['[,]', "invalid character ',' looking for beginning of value"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ["{'kind':'Service'}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a"}', "invalid character '}' after object key"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a":1} trailing', "invalid character 't' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['\u00e9', "invalid character 'Ã' looking for beginning of value"],
  ['\u0000', "invalid character '\\x00' looking for beginning of value"],
  [' {"a": [1, -2.5e+3, "\\u00e9", null, true, false, {}, []]} ', ''],
];

for (const [text, expected] of cases) {
  test(`goJsonParseError() of ${JSON.stringify(text)}`, () =>
    assert.equal(goJsonParseError(text), expected));
}

test('goJsonParseError() limits nesting', () => {
  assert.equal(goJsonParseError('['.repeat(10001)), 'exceeded max depth');
});
