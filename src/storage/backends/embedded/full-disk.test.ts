// A disk that fills up and has space again: a small file system of its own, in a mount namespace that ends
// with the process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Store } from '../../store.ts';
import { isStoreError } from '../../store-error.ts';
import { openEmbeddedStore } from './store.ts';

const mountPoint = process.env.FAIRLEAD_FULL_DISK;
const now = (): number => 1_700_000_000_000;

if (mountPoint === undefined) {
  const canMount = mounting('true').status === 0;
  const skip = canMount ? false : 'needs the right to mount a tmpfs in a namespace of its own';
  test('a full disk refuses whole transactions, serves reads, and accepts writes when there is space again', {
    skip,
  }, () => {
    const ran = mounting(`exec ${process.execPath} ${fileURLToPath(import.meta.url)}`);
    assert.equal(ran.stdout, 'done', ran.stderr);
  });
} else {
  await fillDisk(mountPoint);
  process.stdout.write('done');
}

/** Runs a command with a file system of a few megabytes on the directory it finds in the environment. */
function mounting(command: string) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-full-'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const script = `mount -t tmpfs -o size=8m tmpfs "$FAIRLEAD_FULL_DISK" && ${command}`;
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const ran = spawnSync('unshare', [...asRoot, '--mount', 'sh', '-c', script], {
    env: { ...env, FAIRLEAD_FULL_DISK: directory },
    encoding: 'utf8',
  });
  rmSync(directory, { recursive: true });
  return ran;
}

async function fillDisk(mounted: string): Promise<void> {
  const directory = join(mounted, 'store');
  const filler = join(mounted, 'filler');
  writeFileSync(filler, Buffer.alloc(4 << 20));
  let store = await openEmbeddedStore({ directory, now });
  let written = await writeUntilFull(store, 0);
  assert.ok(written > 10);
  await assertHolds(store, written);
  await refusesToWrite(store);
  await refusesToWrite(store);

  await store.close();
  store = await openEmbeddedStore({ directory, now });
  await assertHolds(store, written);

  rmSync(filler);
  await refusesToWrite(store, 6_000_000);
  written = await writeUntilFull(store, written);
  await assertHolds(store, written);
  await store.close();
  store = await openEmbeddedStore({ directory, now });
  await assertHolds(store, written);
  await store.close();
}

function half(name: string, number: number): string {
  return `/${name}/${String(number).padStart(6, '0')}`;
}

/** Writes pairs, several at once, until there is no space; returns how many there are then. */
async function writeUntilFull(store: Store, from: number): Promise<number> {
  for (let number = from; ; ) {
    const batch = Array.from({ length: 7 }, (_, more) => ({
      compare: [],
      write: ['a', 'b'].map((name) => ({
        put: half(name, number + more),
        value: Buffer.alloc(3_000, number + more),
      })),
    }));
    const outcomes = await Promise.allSettled(batch.map((each) => store.transact(each)));
    const acknowledged = outcomes.filter(({ status }) => status === 'fulfilled').length;
    number += acknowledged;
    const [failed] = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failed === undefined) continue;
    assert.ok(isStoreError(failed.reason, 'full'), String(failed.reason));
    assert.equal(acknowledged, 0);
    return number;
  }
}

async function refusesToWrite(store: Store, bytes = 100_000): Promise<void> {
  const write = [{ put: '/x', value: Buffer.alloc(bytes) }];
  await assert.rejects(store.transact({ compare: [], write }), { reason: 'full' });
  assert.equal(await store.get('/x'), undefined);
}

async function assertHolds(store: Store, pairs: number): Promise<void> {
  for (const name of ['a', 'b']) {
    const { entries } = await store.list(`/${name}/`);
    assert.equal(entries.length, pairs);
    for (const [number, { key, value }] of entries.entries()) {
      assert.equal(key, half(name, number));
      assert.ok(Buffer.alloc(3_000, number).equals(value));
    }
  }
}
