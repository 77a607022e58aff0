// The process that storage-crash.test.ts kills: writes as fast as it can and says what was acknowledged.
// It says so before anything else can happen, so whatever the parent has read was acknowledged.
import { writeSync } from 'node:fs';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { countKey, transactionFor, writers } from './storage-model.ts';

/** Compacts so often that it is likely to be under way when the end comes. */
const compactEvery = 500;

const [directory = ''] = process.argv.slice(2);
writeSync(1, 'opening\n');
const store = await openEmbeddedStore({ directory, now: Date.now });
await Promise.all(Array.from({ length: writers }, (_, writer) => write(store, writer)));

async function write(to: Store, writer: number): Promise<void> {
  const found = await to.get(countKey(writer));
  for (let number = Number(Buffer.from(found?.value ?? []).toString()) + 1; ; number++) {
    const { revision } = await to.transact(transactionFor(writer, number));
    writeSync(1, `${writer} ${number} ${revision}\n`);
    if (revision % compactEvery === 0) void to.compact(revision - compactEvery / 2);
  }
}
