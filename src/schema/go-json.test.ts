import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goJson } from './go-json.ts';
import { goQuote, goQuoteList } from './go-quote.ts';

test('goJson() escapes what Go escapes', () => {
  assert.equal(goJson({ a: '<b>&"' }), '{"a":"\\u003cb\\u003e\\u0026\\""}');
  assert.equal(goJson(['\u2028\u00e9\u0001\u007f']), '["\\u2028\u00e9\\u0001\u007f"]');
});

const quoted: readonly (readonly [name: string, text: string, wanted: string])[] = [
  ['plain text', 'a b', '"a b"'],
  ['quotes and backslashes', 'a"\\', '"a\\"\\\\"'],
  ['control characters', '\u0001\u0007\b\f\n\r\t\v\u007f', '"\\x01\\a\\b\\f\\n\\r\\t\\v\\x7f"'],
  ['letters of other languages', 'é😀', '"é😀"'],
  ['spaces that are not plain', 'a\u00a0b', '"a\\u00a0b"'],
  ['no HTML escapes', '<&>', '"<&>"'],
];

for (const [name, text, wanted] of quoted) {
  test(`goQuote() shows ${name}`, () => assert.equal(goQuote(text), wanted));
}

test('goQuoteList() has spaces between texts', () => {
  assert.equal(goQuoteList(['a', 'b']), '["a" "b"]');
});
