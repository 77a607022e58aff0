import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantsNamespaces } from './launch.ts';

const cases: readonly (readonly [string, boolean])[] = [
  ['up', true],
  ['up --nodes 2', true],
  ['up --network isolated', true],
  ['up --network=isolated', true],
  ['up --network none', false],
  ['up --network=host --nodes 2', false],
  ['up --network none --network isolated', true],
  ['up --help', false],
  ['get services', false],
  ['apiserver', false],
  ['', false],
];

for (const [line, wanted] of cases) {
  test(`wantsNamespaces() of "${line}" is ${wanted}`, () => {
    assert.equal(wantsNamespaces(line.split(' ')), wanted);
  });
}
