import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataDirOf } from './find-up.ts';

const cases: readonly (readonly [string, string | undefined])[] = [
  ['/usr/bin/node bin/fairlead up', '.fairlead'],
  ['node /opt/fairlead/bin/fairlead up --nodes 2 --data-dir a', 'a'],
  ['node bin/fairlead up --data-dir=a=b', 'a=b'],
  ['node bin/fairlead up --data-dir a --data-dir b', 'b'],
  ['node bin/fairlead up --data-dir', undefined],
  ['node bin/fairlead down --data-dir a', undefined],
  ['node bin/other up', undefined],
  ['setpriv node bin/fairlead up', undefined],
  ['vim bin/fairlead up', undefined],
  ['', undefined],
];

for (const [text, expected] of cases) {
  test(`dataDirOf() of "${text}" is ${expected}`, () => {
    assert.equal(dataDirOf(text.split(' ')), expected);
  });
}
