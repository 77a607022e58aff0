import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataDirArgument } from './data-dir-flag.ts';

const cases: readonly (readonly [string, string])[] = [
  ['.fairlead', ''],
  ['/var/lib/fairlead', ' --data-dir /var/lib/fairlead'],
  ['my data', " --data-dir 'my data'"],
  ["it's", " --data-dir 'it'\\''s'"],
];
for (const [dataDir, argument] of cases) {
  test(`dataDirArgument() quotes "${dataDir}" for a shell`, () => {
    assert.equal(dataDirArgument({ dataDir }), argument);
  });
}
