import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalQuantity,
  compareQuantities,
  quantityValue,
  readQuantity,
  roundToMilli,
} from './quantity.ts';

const spellings: readonly (readonly [string, string | undefined])[] = [
  ['0', '0'],
  ['0Gi', '0'],
  ['2', '2'],
  ['2000m', '2'],
  ['500m', '500m'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['5.', '5'],
  ['+5', '5'],
  ['-1', '-1'],
  ['1024Mi', '1Gi'],
  ['1536Ki', '1536Ki'],
  ['1023', '1023'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['100Ki', '100Ki'],
  ['1Ki', '1Ki'],
  ['0.1Ki', '102400m'],
  ['1000000k', '1G'],
  ['1500k', '1500k'],
  ['1e9', '1e9'],
  ['1E9', '1e9'],
  ['1.1e2', '110'],
  ['1e1', '10'],
  ['12e6', '12e6'],
  ['1e-3', '1e-3'],
  ['0.0000000001', '1n'],
  ['1.0000000001', '1000000001n'],
  ['1000n', '1u'],
  ['9Ei', '9223372036854775807'],
  ['1000E', '1000E'],
  ['', undefined],
  ['abc', undefined],
  ['1.2.3', undefined],
  ['.', undefined],
  ['1Kib', undefined],
  ['1K', undefined],
  ['1e', undefined],
  ['1 Gi', undefined],
  ['1e-9999', '1e-9'],
  ['0e9999', '0'],
  ['1'.repeat(1_000_000), undefined],
  [`1.${'0'.repeat(1_000_000)}`, undefined],
  ['9'.repeat(251), undefined],
  [`1${'0'.repeat(280)}`, `1${'0'.repeat(262)}E`],
];

test('canonicalQuantity() is idempotent', () => {
  const digits = '7'.repeat(250);
  for (const text of [digits, `-${digits}e-1`, `${digits}e1`, `${digits}E`, `.${digits}`]) {
    const spelling = canonicalQuantity(text) ?? '';
    assert.equal(canonicalQuantity(spelling), spelling);
    assert.notEqual(spelling, '');
  }
});

for (const [text, expected] of spellings) {
  test(`canonicalQuantity() of "${text}"`, () => assert.equal(canonicalQuantity(text), expected));
}

test('readQuantity() returns Kubernetes’ messages', () => {
  const form =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  assert.deepEqual(readQuantity('abc'), { error: form });
  assert.deepEqual(readQuantity('1K'), { error: "unable to parse quantity's suffix" });
});

test('compareQuantities() compares values, not texts', () => {
  assert.equal(compareQuantities('1Gi', '1024Mi'), 0);
  assert.equal(compareQuantities('1G', '1Gi'), -1);
  assert.equal(compareQuantities('1', '999m'), 1);
  assert.equal(compareQuantities('-1', '0'), -1);
  assert.equal(compareQuantities('1e3', '1k'), 0);
  assert.equal(compareQuantities('-1e9999', '1e9999'), -1);
  assert.equal(compareQuantities('-2e9999', '-1'), -1);
  assert.equal(compareQuantities('1e9999', '2e9998'), 1);
  assert.equal(compareQuantities('0', '0e9999'), 0);
  assert.equal(compareQuantities('10', '9.99'), 1);
});

test('quantityValue() returns numbers', () => {
  assert.equal(quantityValue('1500m'), 1.5);
  assert.equal(quantityValue('2Ki'), 2048);
  assert.equal(quantityValue('nonsense'), 0);
});

const rounded: Readonly<Record<string, string>> = {
  '1': '1',
  '1500m': '1500m',
  '1Ki': '1Ki',
  '1n': '1m',
  '100u': '1m',
  '1000010u': '1001m',
  '-1n': '-1m',
  '100e-6': '1e-3',
  '1024102400u': '1024103m',
  nonsense: 'nonsense',
};

for (const [text, wanted] of Object.entries(rounded)) {
  test(`roundToMilli() of "${text}"`, () => assert.equal(roundToMilli(text), wanted));
}
