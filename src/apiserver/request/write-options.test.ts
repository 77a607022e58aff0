import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { parseWriteOptions, type WriteOptions } from './write-options.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `${error.status.code} ${error.message}`;
  }
  return 'none';
}

const plain: WriteOptions = {
  dryRun: false,
  fieldValidation: 'Warn',
  fieldManager: '',
  force: false,
};

const good: Readonly<Record<string, Partial<WriteOptions>>> = {
  '': {},
  'dryRun=All': { dryRun: true },
  'dryRun=All&dryRun=All': { dryRun: true },
  'fieldValidation=': {},
  'fieldValidation=Strict': { fieldValidation: 'Strict' },
  'fieldValidation=Ignore': { fieldValidation: 'Ignore' },
  'fieldManager=me': { fieldManager: 'me' },
  'timeout=5s': {},
  'pretty=true&unknown=1': {},
};

for (const [text, wanted] of Object.entries(good)) {
  test(`parseWriteOptions() reads "${text}"`, () => {
    assert.deepEqual(parseWriteOptions(query(text), 'CreateOptions'), { ...plain, ...wanted });
  });
}

const dryRun = (shown: string): string =>
  `dryRun: Unsupported value: [${shown}]: supported values: "All"`;
const wrong: readonly [text: string, kind: 'CreateOptions' | 'UpdateOptions', why: string][] = [
  ['dryRun=all', 'CreateOptions', dryRun('"all"')],
  ['dryRun=', 'UpdateOptions', dryRun('""')],
  ['dryRun=All&dryRun=x', 'CreateOptions', dryRun('"All","x"')],
  [
    'fieldValidation=strict',
    'UpdateOptions',
    'fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"',
  ],
];

for (const [text, kind, why] of wrong) {
  test(`parseWriteOptions() refuses "${text}" of ${kind}`, () => {
    assert.equal(
      refusal(() => parseWriteOptions(query(text), kind)),
      `422 ${kind}.meta.k8s.io "" is invalid: ${why}`,
    );
  });
}

test('parseWriteOptions() of an apply needs a manager and may force', () => {
  const apply = (text: string): WriteOptions =>
    parseWriteOptions(query(text), 'PatchOptions', true);
  assert.equal(apply('fieldManager=me&force=true').force, true);
  assert.equal(apply('fieldManager=me&force=false').force, false);
  assert.equal(
    refusal(() => apply('force=true')),
    '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  );
});

test('parseWriteOptions() of another patch may not force', () => {
  assert.equal(
    refusal(() => parseWriteOptions(query('force=false'), 'PatchOptions')),
    '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  );
});
