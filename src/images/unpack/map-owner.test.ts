import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mapOwner, parseIdMap } from './map-owner.ts';

const all = parseIdMap('         0          0 4294967295\n');
const single = parseIdMap('         0       1000          1\n');
const subordinate = parseIdMap(
  '         0       1000          1\n         1     100000      65536\n',
);

const cases = [
  { name: 'on the machine', ranges: all, uid: 1000, mapped: 1000 },
  { name: 'with a single ID', ranges: single, uid: 1000, mapped: 0 },
  { name: 'with subordinate IDs', ranges: subordinate, uid: 1000, mapped: 1000 },
  { name: 'at the end of the range', ranges: subordinate, uid: 65_536, mapped: 65_536 },
  { name: 'beyond the range', ranges: subordinate, uid: 65_537, mapped: 0 },
  { name: 'of no ID', ranges: all, uid: 0xffff_ffff, mapped: 0 },
  { name: 'beyond 32 bits', ranges: all, uid: 2 ** 40, mapped: 0 },
];

describe('mapOwner()', () => {
  for (const { name, ranges, uid, mapped } of cases) {
    it(`maps ${uid} ${name} to ${mapped}`, () => {
      const map = { canChange: true, users: ranges, groups: all };
      assert.deepEqual(mapOwner(map, { uid, gid: 5 }), { uid: mapped, gid: 5 });
    });
  }
});
