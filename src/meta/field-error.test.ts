import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from './api-error.ts';
import {
  errorText,
  invalid as invalidField,
  joined,
  notSupported,
  required,
} from './field-error.ts';

const cases: readonly (readonly [
  checks: readonly (readonly number[])[],
  all: readonly number[],
])[] = [
  [[], []],
  [[[], []], []],
  [
    [[], [1, 2], []],
    [1, 2],
  ],
  [
    [[1], [], [2, 3], [4]],
    [1, 2, 3, 4],
  ],
];

for (const [checks, all] of cases) {
  test(`joined() keeps the order of ${JSON.stringify(checks)}`, () => {
    assert.deepEqual(joined(checks), all);
  });
}

test('joined() returns a single result unchanged', () => {
  const first = [1];
  assert.equal(joined([first, []]), first);
  joined([first, [2]]);
  assert.deepEqual(first, [1]);
});

test('invalid() lists a thousand field errors and the number of others', () => {
  const errors = Array.from({ length: 1002 }, (_, at) => required(`spec.ports[${at}].name`));
  const { message, details } = invalid({ group: '', kind: 'Service' }, 'web', errors).status;
  assert.equal(details?.causes?.length, 1000);
  assert.match(message ?? '', /spec\.ports\[999\]\.name: Required value, and 2 more\]$/);
  assert.doesNotMatch(message ?? '', /ports\[1000\]/);
});

const shown: readonly (readonly [name: string, value: unknown, text: string])[] = [
  ['a text with control characters', 'a\u0001\u007f\n', '"a\\x01\\x7f\\n"'],
  ['a text with HTML characters', '<&>', '"<&>"'],
  ['an object with HTML characters', { a: '<&>' }, '{"a":"\\u003c\\u0026\\u003e"}'],
  ['nothing', undefined, 'null'],
];

for (const [name, value, text] of shown) {
  test(`field errors show ${name} as Go does`, () => {
    assert.equal(errorText(invalidField('f', value, 'no')), `f: Invalid value: ${text}: no`);
    assert.equal(
      errorText(notSupported('f', value, ['a"'])),
      `f: Unsupported value: ${text}: supported values: "a\\""`,
    );
  });
}
