// Files that are not what this program wrote, or no longer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Store } from '../../store.ts';
import { isStoreError, type StoreErrorReason } from '../../store-error.ts';
import { encodeHeader, headerKey } from './format.ts';
import { openEnvironment } from './lmdb-log.ts';
import { recover } from './recover.ts';
import { openEmbeddedStore } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'fairlead-recover-'));
const now = (): number => 1_700_000_000_000;
const pageSize = 4096;
/** A sound file, with values of all lengths, deleted keys, free pages and a compacted past. */
const { sound, keys } = await makeSound(join(root, 'sound'));
after(() => rmSync(root, { recursive: true }));

async function makeSound(directory: string): Promise<{ sound: Buffer; keys: number }> {
  const store = await openEmbeddedStore({ directory, now });
  await fill(store);
  const keys = (await store.list('/')).entries.length;
  await store.close();
  return { sound: readFileSync(join(directory, 'store.mdb')), keys };
}

async function fill(store: Store): Promise<void> {
  for (let round = 0; round < 4; round++) {
    const puts = Array.from({ length: 150 }, (_, n) => ({
      compare: [],
      write: [
        {
          put: `/k/${(n * 7) % 120}`,
          value: Buffer.alloc(n % 40 === 0 ? 9_000 + n : (n * 9) % 900, n),
        },
        { put: `/z/${n}`, value: Buffer.from('z') },
      ],
    }));
    await Promise.all(puts.map((transaction) => store.transact(transaction)));
    await store.transact({ compare: [], write: [{ delete: '/k/7' }, { delete: '/k/9' }] });
    if (round === 2) await store.compact(await store.currentRevision());
  }
}

let made = 0;
function fileWith(content: Uint8Array | string): string {
  const file = join(root, `store-${made++}.mdb`);
  writeFileSync(file, content);
  return file;
}

/** Recovers from a copy of the sound file after a change to it. */
function recoverChanged(change: (bytes: Buffer) => Uint8Array | undefined) {
  const bytes = Buffer.from(sound);
  return recover(fileWith(change(bytes) ?? bytes));
}

function refuses(reason: StoreErrorReason, pattern: RegExp, attempt: () => unknown): void {
  assert.throws(attempt, (error) => {
    assert.ok(isStoreError(error, reason), String(error));
    assert.match(error.message, /^Cannot use ".*store-\d+\.mdb": /);
    assert.match(error.message, pattern);
    return true;
  });
}

describe('recover()', () => {
  it('finds every key of an intact file', () => {
    const recovered = recoverChanged(() => undefined);
    assert.ok(recovered);
    const live = [...recovered.versions.keysFrom('')].filter((key) =>
      recovered.versions.at(key, recovered.revision),
    );
    assert.equal(live.length, keys);
  });
  it('creates a store only where there is no file', () => {
    assert.equal(recover(join(root, 'absent')), undefined);
    refuses('damaged', /it is empty/, () => recover(fileWith('')));
    for (const bytes of [1, 2, 7, 8, 100, 4096, 8192])
      refuses('damaged', /nothing but zeros/, () => recover(fileWith(new Uint8Array(bytes))));
  });
});

describe('recover() of what is hardly a store', () => {
  it('refuses a file truncated to any length', () => {
    for (const bytes of [1, 8, 9, 24, 100, 168, 4095, 4096, 5000, 8192, 12_288, 20_000]) {
      assert.throws(
        () => recoverChanged((b) => b.subarray(0, bytes)),
        (error) => isStoreError(error, 'damaged') || isStoreError(error, 'foreign'),
      );
    }
  });
  it('refuses anything but a regular file', () => {
    const freshPath = (): string => join(root, `store-${made++}.mdb`);
    const directory = freshPath();
    mkdirSync(directory);
    refuses('foreign', /it is a directory/, () => recover(directory));
    const link = freshPath();
    symlinkSync(fileWith(sound), link);
    refuses('foreign', /it is a symbolic link/, () => recover(link));
    const pipe = freshPath();
    spawnSync('mkfifo', [pipe]);
    refuses('foreign', /it is not a regular file/, () => recover(pipe));
  });
  it('refuses a changed transaction number', () => {
    const numbers = [0, pageSize].map((page) => page + 24 + 128);
    for (const at of numbers) {
      for (let bit = 0; bit < 64; bit += 1) {
        assert.throws(
          () =>
            recoverChanged((bytes) => {
              const index = at + (bit >> 3);
              bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit & 7));
              return undefined;
            }),
          (error) => isStoreError(error, 'damaged'),
          `bit ${bit} at ${at}`,
        );
      }
    }
  });
  it('refuses the files of other programs', async () => {
    refuses('foreign', /not made by this program/, () =>
      recover(fileWith('A text.\n'.repeat(999))),
    );
    refuses('foreign', /not made by this program/, () => recover(fileWith('short')));
    const file = join(root, `store-${made++}.mdb`);
    const other = openEnvironment(file);
    await other.put(Buffer.from('key'), Buffer.from('value'));
    await other.close();
    refuses('foreign', /database of another program/, () => recover(file));
  });
  it('refuses a newer format', async () => {
    const file = join(root, `store-${made++}.mdb`);
    const newer = openEnvironment(file);
    await newer.put(headerKey, encodeHeader({ format: 2, compacted: 1 }));
    await newer.close();
    refuses('foreign', /has format 2, made by a newer version/, () => recover(file));
  });
  it('refuses a truncated file', () => {
    refuses('damaged', /ends before page/, () =>
      recoverChanged((b) => b.subarray(0, b.length / 2)),
    );
    refuses('damaged', /second page is broken/, () =>
      recoverChanged((b) => b.subarray(0, pageSize)),
    );
  });
  it('names the key of a damaged value', () => {
    // Every copy, because some are on pages that are free by now.
    const spoilt = sound.toString('latin1').replaceAll('/z/149z', '/z/149Z');
    refuses('damaged', /record \w+ of key "\/z\/149" does not fit its checksum/, () =>
      recoverChanged(() => Buffer.from(spoilt, 'latin1')),
    );
  });
});

describe('recover() from any single damage', () => {
  // A linear congruence: the same damage each time.
  let seed = 11;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const garble = (bytes: Buffer, start: number, length: number): undefined => {
    for (let index = start; index < start + length; index++) bytes[index] = random(256);
  };
  const damages: Record<string, (bytes: Buffer, page: number) => undefined> = {
    'a flipped bit': (bytes, page) => {
      const at = page + random(pageSize);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    },
    'an empty page': (bytes, page) => void bytes.fill(0, page, page + pageSize),
    'a page of garbage': (bytes, page) => garble(bytes, page, pageSize),
    'a garbled page header': (bytes, page) => garble(bytes, page, 40),
    'a misplaced page': (bytes, page) => {
      const other = random(bytes.length / pageSize) * pageSize;
      bytes.copy(bytes, page, other, other + pageSize);
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    it(`detects ${name}, unless nothing is lost`, () => {
      for (let page = 0; page < sound.length; page += pageSize) {
        try {
          const recovered = recoverChanged((bytes) => damage(bytes, page));
          assert.equal(recovered?.versions.at('/z/3', recovered.revision)?.type, 'put');
        } catch (error) {
          assert.ok(
            isStoreError(error, 'damaged') || isStoreError(error, 'foreign'),
            String(error),
          );
        }
      }
    });
  }
});
