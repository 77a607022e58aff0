// Documents that are made from the code: compared with it, and with FAIRLEAD_UPDATE_DOCS=1 written anew.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

export function compareDocument(file: string, wanted: string): void {
  if (process.env.FAIRLEAD_UPDATE_DOCS === '1') writeFileSync(file, wanted);
  assert.equal(
    readFileSync(file, 'utf8'),
    wanted,
    `${file} is stale: run the unit tests with FAIRLEAD_UPDATE_DOCS=1`,
  );
}
