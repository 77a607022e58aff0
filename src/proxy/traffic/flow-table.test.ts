import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFlowTable, noRow, seenIn } from './flow-table.ts';

describe('createFlowTable()', () => {
  it('finds each entry again after it has grown', () => {
    const table = createFlowTable();
    const count = 5000;
    for (let n = 0; n < count; n += 1) {
      const row = table.rowOf(n % 100, n);
      table.setSeen(row, seenIn.first);
      table.setBytes(row, n, 2 * n);
    }
    assert.equal(table.size(), count);
    for (let n = 0; n < count; n += 1) {
      const row = table.rowOf(n % 100, n);
      assert.deepEqual(
        [table.seen(row), table.bytesIn(row), table.bytesOut(row)],
        [seenIn.first, n, 2 * n],
      );
    }
    assert.equal(table.size(), count);
  });
  it('has no room beyond its limit, and still finds what it has', () => {
    const table = createFlowTable(2);
    const first = table.rowOf(1, 0);
    table.rowOf(2, 0);
    assert.equal(table.rowOf(3, 0), noRow);
    assert.equal(table.rowOf(1, 0), first);
  });
});
