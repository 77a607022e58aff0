import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { claimName } from './claim-name.ts';

test('claimName() gives a name to one process at a time', async () => {
  const name = `fairlead-test-${process.pid}`;
  const first = await claimName(name);
  assert.ok(first);
  assert.equal(await claimName(name), undefined);
  const script = `import(${JSON.stringify(new URL('./claim-name.js', import.meta.url).href)})
    .then(({ claimName }) => claimName(${JSON.stringify(name)}))
    .then((claim) => process.stdout.write(claim === undefined ? 'taken' : 'free'))`;
  const claimElsewhere = async (): Promise<string> =>
    (await promisify(execFile)(process.execPath, ['-e', script])).stdout;
  assert.equal(await claimElsewhere(), 'taken');
  first.release();
  assert.equal(await claimElsewhere(), 'free');
});
