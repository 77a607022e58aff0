import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tableLines } from './text-table.ts';

it('tableLines() aligns cells, and leaves nothing behind the last one', () => {
  assert.deepEqual(
    tableLines([
      ['NODE', 'STATE'],
      ['a', 'ready'],
      ['node-17', ''],
    ]),
    ['NODE     STATE', 'a        ready', 'node-17'],
  );
  assert.deepEqual(tableLines([]), []);
});
