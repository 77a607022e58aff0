// The process that storage-crash.test.ts kills: writes as fast as it can and says what was acknowledged.
// It says so before anything else can happen, so whatever the parent has read was acknowledged.
import { writeSync } from 'node:fs';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { countKey, transactionFor, writers } from './storage-model.ts';

/** How far back the past is kept: little, so that compaction is often under way when the end comes. */
const keptRevisions = 2_000;

const [directory = ''] = process.argv.slice(2);
writeSync(1, 'opening\n');
const store = await openEmbeddedStore({ directory, now: Date.now });
await Promise.all([
  ...Array.from({ length: writers }, (_, writer) => write(store, writer)),
  forget(store),
]);

async function write(to: Store, writer: number): Promise<void> {
  const found = await to.get(countKey(writer));
  for (let number = Number(found?.value.toString() ?? 0) + 1; ; number++) {
    const outcome = await to.transact(transactionFor(writer, number));
    writeSync(1, `${writer} ${number} ${outcome.revision}\n`);
  }
}

async function forget(past: Store): Promise<void> {
  for (;;) {
    const revision = (await past.currentRevision()) - keptRevisions;
    if (revision > past.compactedRevision() + keptRevisions) await past.compact(revision);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
