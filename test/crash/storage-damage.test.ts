// Store files that were cut, flipped or garbled, opened for real in a process of their own: each is refused with a message or is whole.
// LMDB is native code over mapped memory: what it cannot read ends the process. FAIRLEAD_DAMAGE_ROUNDS sets the number of files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { isStoreError } from '../../src/storage/store-error.ts';
import { chooseSeed, createRandom, type Random } from '../parts/harness/random.ts';

const rounds = Number(process.env.FAIRLEAD_DAMAGE_ROUNDS ?? 300);
const now = (): number => Date.now();
const pageSize = 4096;
const inside = process.env.FAIRLEAD_DAMAGE;

if (inside === undefined) {
  test(`${rounds} damaged store files are refused or whole`, {
    timeout: 60_000 + rounds * 200,
  }, async (t) => {
    const seed = chooseSeed();
    t.diagnostic(`seed ${seed}`);
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-damage-'));
    try {
      await makeSound(join(directory, 'sound'));
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const { status, signal, stdout, stderr } = spawnSync(
        process.execPath,
        [fileURLToPath(import.meta.url)],
        {
          env: { ...env, FAIRLEAD_DAMAGE: directory, FAIRLEAD_SEED: String(seed) },
          encoding: 'utf8',
        },
      );
      const last = stdout.trim().split('\n').at(-1);
      assert.deepEqual([status, signal], [0, null], `${last}\n${stderr}`);
      t.diagnostic(String(last));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
} else {
  await openDamaged(inside);
}

async function makeSound(directory: string): Promise<void> {
  const store = await openEmbeddedStore({ directory, now });
  for (let round = 0; round < 4; round += 1) {
    const puts = Array.from({ length: 150 }, (_, n) => ({
      compare: [],
      write: [
        {
          put: `/k/${(n * 7) % 120}`,
          value: Buffer.alloc(n % 40 === 0 ? 9000 + n : (n * 9) % 900, n),
        },
        { put: `/z/${n}`, value: Buffer.from('z') },
      ],
    }));
    await Promise.all(puts.map((transaction) => store.transact(transaction)));
    if (round === 2) await store.compact(await store.currentRevision());
  }
  await store.close();
}

async function openDamaged(directory: string): Promise<void> {
  const random = createRandom(chooseSeed());
  const sound = readFileSync(join(directory, 'sound', 'store.mdb'));
  const whole = await openEmbeddedStore({ directory: join(directory, 'sound'), now });
  const expected = await contentOf(whole);
  await whole.close();
  const tally = { refused: 0, whole: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const { name, bytes } = damage(sound, random);
    process.stdout.write(`${name}\n`);
    const target = join(directory, 'damaged');
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    writeFileSync(join(target, 'store.mdb'), bytes);
    tally[await openOne(target, expected, name)] += 1;
  }
  process.stdout.write(`${JSON.stringify(tally)}\n`);
}

async function openOne(
  target: string,
  expected: string,
  name: string,
): Promise<'refused' | 'whole'> {
  try {
    for (let time = 0; time < 2; time += 1) {
      const store = await openEmbeddedStore({ directory: target, now });
      assert.ok(
        (await contentOf(store)) === expected,
        `${name}: what is shown is not what was stored`,
      );
      await store.transact({ compare: [], write: [{ put: '/new', value: Buffer.from('x') }] });
      await store.transact({ compare: [], write: [{ delete: '/new' }] });
      await store.close();
    }
    return 'whole';
  } catch (error) {
    if (isStoreError(error, 'damaged') || isStoreError(error, 'foreign')) return 'refused';
    throw error;
  }
}

async function contentOf(store: Store): Promise<string> {
  const { entries } = await store.list('');
  return JSON.stringify(
    entries.map(({ key, revision, value }) => [
      key,
      revision,
      Buffer.from(value).toString('base64'),
    ]),
  );
}

type Damage = { readonly name: string; readonly bytes: Uint8Array };

function damage(sound: Buffer, random: Random): Damage {
  const bytes = Buffer.from(sound);
  const flip = (at: number): Damage => {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    return { name: `a bit at ${at}`, bytes };
  };
  // The first two pages say where everything is.
  const page = random.below(2) === 0 ? random.below(2) : random.below(bytes.length / pageSize);
  switch (random.below(5)) {
    case 0: {
      const length = random.below(2) === 0 ? random.below(300) : random.below(bytes.length);
      return { name: `cut to ${length}`, bytes: bytes.subarray(0, length) };
    }
    case 1:
      return flip(random.below(2) * pageSize + random.below(180));
    case 2:
      return flip(random.below(bytes.length));
    case 3:
      for (let n = 0; n < 40; n += 1)
        bytes[page * pageSize + random.below(pageSize)] = random.below(256);
      return { name: `garbage in page ${page}`, bytes };
    default:
      bytes.fill(0, page * pageSize, (page + 1) * pageSize);
      return { name: `zeros in page ${page}`, bytes };
  }
}
