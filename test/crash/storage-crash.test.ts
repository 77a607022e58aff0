// Kills a writing process at random moments and looks at what it left: all that was acknowledged, nothing
// by halves, no revision twice, no gap in the past. FAIRLEAD_CRASH_ROUNDS sets the number of kills.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { countKey, stateAfter, writers } from './storage-model.ts';

const rounds = Number(process.env.FAIRLEAD_CRASH_ROUNDS ?? 8);
const writerProgram = fileURLToPath(new URL('./storage-writer.js', import.meta.url));

type Acknowledged = { readonly number: number; readonly revision: number };

test(`a store outlives ${rounds} kills of its process`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-crash-'));
  try {
    const acknowledged: Acknowledged[] = Array(writers).fill({ number: 0, revision: 0 });
    let seen = 0;
    for (let round = 0; round < rounds; round++) {
      // From before the store is open to some thousand transactions later.
      await writeUntilKilled(directory, Math.floor(Math.random() ** 2 * 4_000), acknowledged);
      seen = await inspect(directory, acknowledged, seen);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Notes what the process says was acknowledged, and kills it after so many lines. */
async function writeUntilKilled(
  directory: string,
  lines: number,
  acknowledged: Acknowledged[],
): Promise<void> {
  const child = spawn(process.execPath, [writerProgram, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let read = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (read++ === lines) child.kill('SIGKILL');
    const [writer = 0, number = 0, revision = 0] = line.split(' ').map(Number);
    // The last line may be cut short; then it is as if it had not been said.
    if (revision > (acknowledged[writer]?.revision ?? 0))
      acknowledged[writer] = { number, revision };
  }
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL');
}

/** Opens what is left and checks it against what was acknowledged; returns its revision. */
async function inspect(
  directory: string,
  acknowledged: Acknowledged[],
  seen: number,
): Promise<number> {
  const store = await openEmbeddedStore({ directory, now: Date.now });
  const current = await store.currentRevision();
  const newest = Math.max(seen, ...acknowledged.map(({ revision }) => revision));
  assert.ok(current >= newest, `at revision ${current} after ${newest}`);

  const counts = await Promise.all(
    acknowledged.map((last, writer) => checkCount(store, writer, last)),
  );
  const { entries } = await store.list('/');
  const held = new Map(entries.map(({ key, value }) => [key, Buffer.from(value).toString()]));
  assert.deepEqual(sorted(held), sorted(stateAfter(counts)));

  await checkPast(store, Math.max(seen, store.compactedRevision()), current);
  for (const [writer, number] of counts.entries()) {
    const revision = (await store.get(countKey(writer)))?.revision ?? 0;
    acknowledged[writer] = { number, revision };
  }
  await store.close();
  return current;
}

/** A writer waits for each answer, so at most one transaction can be there that was not acknowledged. */
async function checkCount(store: Store, writer: number, last: Acknowledged): Promise<number> {
  const entry = await store.get(countKey(writer));
  const count = Number(Buffer.from(entry?.value ?? []).toString());
  assert.ok(
    count === last.number || count === last.number + 1,
    `writer ${writer} has ${count}, acknowledged were ${last.number}`,
  );
  if (count === last.number) assert.equal(entry?.revision ?? 0, last.revision);
  return count;
}

/** The past has every revision once, each with a pair of equal values and a count. */
async function checkPast(store: Store, from: number, to: number): Promise<void> {
  let revision = from;
  if (from === to) return;
  for await (const events of store.watch('/', from, AbortSignal.timeout(60_000))) {
    for (const [index, event] of events.entries()) {
      if (event.revision === revision) continue;
      assert.equal(event.revision, revision + 1);
      revision = event.revision;
      const whole = events.slice(index).filter((other) => other.revision === revision);
      const puts = whole.filter(({ type }) => type === 'put').map(({ value }) => String(value));
      assert.deepEqual([puts.length, puts[0]], [3, puts[1]]);
      assert.equal(puts[0]?.split(':')[1], puts[2]);
    }
    if (revision === to) break;
  }
  assert.equal(revision, to);
}

function sorted(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
