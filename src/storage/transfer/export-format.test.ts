import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreError } from '../store-error.ts';
import { createExportReader, createExportWriter, type ExportEntry } from './export-format.ts';

const header = { revision: 42, exportedAt: '2026-01-02T03:04:05Z' };
const entries: readonly ExportEntry[] = [
  { key: '/a', value: Buffer.from('{"kind":"Ünicode\\n"}'), revision: 7, createRevision: 3 },
  { key: '/b', value: Buffer.from([0xff, 0x00, 0x80]), revision: 8, createRevision: 8 },
  { key: '/c', value: Buffer.alloc(0), revision: 9, createRevision: 9, expiresAt: 1234 },
];

function lines(): readonly string[] {
  const writer = createExportWriter();
  return [writer.header(header), ...entries.map(writer.entry), writer.end()].map((line) =>
    line.slice(0, -1),
  );
}

function read(all: readonly string[]) {
  const reader = createExportReader();
  const found = all.flatMap((line) => reader.line(line) ?? []);
  return { found, ...reader.end() };
}

test('createExportReader() reads what createExportWriter() wrote', () => {
  const { found, ...rest } = read(lines());
  assert.deepEqual(rest, { ...header, entries: 3 });
  assert.deepEqual(
    found.map((one) => ({ ...one, value: Buffer.from(one.value) })),
    entries,
  );
});

test('createExportWriter() writes objects as searchable text', () => {
  assert.match(lines()[1] ?? '', /Ünicode/);
});

const [first = '', second = '', third = '', fourth = '', last = ''] = lines();
const broken: readonly (readonly [string, readonly string[], 'damaged' | 'foreign', RegExp])[] = [
  ['nothing', [], 'foreign', /it is empty/],
  ['something else', ['# notes'], 'foreign', /no export/],
  ['other JSON', ['{"a":1}'], 'foreign', /no export/],
  ['a newer format', [first.replace('"version":1', '"version":2')], 'foreign', /format 2/],
  ['no end', [first, second, third, fourth], 'damaged', /ends too early/],
  ['half a line', [first, second.slice(0, 20)], 'damaged', /cannot be read/],
  ['a line less', [first, second, fourth, last], 'damaged', /lines are missing/],
  [
    'a line changed',
    [first, second.replace('"revision":7', '"revision":6'), third, fourth, last],
    'damaged',
    /checksum/,
  ],
  ['lines swapped', [first, third, second, fourth, last], 'damaged', /checksum/],
  [
    'a header changed',
    [first.replace('42', '41'), second, third, fourth, last],
    'damaged',
    /checksum/,
  ],
  ['a line after the end', [...lines(), second], 'damaged', /follows/],
  [
    'an entry without a value',
    [first, '{"key":"/a","revision":1,"createRevision":1}'],
    'damaged',
    /line 2/,
  ],
];
for (const [name, all, reason, text] of broken) {
  test(`createExportReader() refuses a file with ${name}`, () => {
    assert.throws(
      () => read(all),
      (error) => isStoreError(error, reason) && text.test(error.message),
    );
  });
}
