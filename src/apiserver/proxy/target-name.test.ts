import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTargetName, type TargetName } from './target-name.ts';

const http = { scheme: 'http', port: '' } as const;
const cases: Readonly<Record<string, TargetName | undefined>> = {
  web: { ...http, name: 'web' },
  'web:80': { ...http, name: 'web', port: '80' },
  'web:': { ...http, name: 'web' },
  'https:web:': { ...http, scheme: 'https', name: 'web' },
  'https:web:p': { scheme: 'https', name: 'web', port: 'p' },
  ':web:p': { ...http, name: 'web', port: 'p' },
  '': undefined,
  ':80': undefined,
  'ftp:web:80': undefined,
  'a:b:c:d': undefined,
};

for (const [text, expected] of Object.entries(cases)) {
  test(`parseTargetName() reads ${JSON.stringify(text)} (PXY-01, PXY-06)`, () => {
    assert.deepEqual(parseTargetName(text), expected);
  });
}
