// Processes that are killed while they pull and unpack, and several at once: the store is whole, and the next one continues.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openImageStore } from '../../../src/images/open-image-store.ts';
import { buildImage, layerOf } from '../harness/images/build-image.ts';
import { serveRegistry } from '../harness/images/serve-registry.ts';
import { never, withStore } from '../harness/images/store-harness.ts';
import { createRandom } from '../harness/random.ts';

const program = fileURLToPath(new URL('./pull-process.js', import.meta.url));
const start = (directory: string, name: string): ChildProcess =>
  fork(program, [directory, name], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });

const layers = Array.from({ length: 4 }, (_, at) =>
  layerOf(
    Array.from({ length: 200 }, (__, file) => ({
      name: `dir-${at}/file-${file}`,
      content: Buffer.alloc(5000 + file, `${at} ${file} `),
    })),
    at % 2 === 0 ? 'plain' : 'gzip',
  ),
);
const image = buildImage({ layers });

/** Everything that the store shows is true. */
async function check(directory: string): Promise<void> {
  for (const name of readdirSync(join(directory, 'blobs/sha256'))) {
    const content = readFileSync(join(directory, 'blobs/sha256', name));
    assert.equal(createHash('sha256').update(content).digest('hex'), name);
  }
  const store = await openImageStore({ directory });
  for (const { id, layers: diffIds } of await store.list()) {
    assert.equal(id, image.config.digest);
    assert.equal(diffIds.length, layers.length);
  }
  await store.close();
  for (const form of readdirSync(join(directory, 'layers'))) {
    const names = readdirSync(join(directory, 'layers', form));
    for (const name of names.filter((one) => !one.includes('.'))) {
      const root = join(directory, 'layers', form, name, 'root');
      const files = (readdirSync(root, { recursive: true }) as string[]).filter((path) =>
        path.includes('file'),
      );
      assert.equal(files.length, 200, `${name} is incomplete`);
    }
  }
}

test('a process that is killed at any moment leaves a store that is whole', {
  timeout: 240_000,
}, async () => {
  const registry = await serveRegistry();
  registry.add('a:1', image);
  const random = createRandom(7);
  try {
    await withStore(async ({ store, directory }) => {
      const name = `${registry.host}/a:1`;
      for (let round = 0; round < 25; round += 1) {
        const child = start(directory, name);
        const exited = once(child, 'exit');
        const ended = once(child, 'message').then(() =>
          sleep(random.below(round % 2 === 0 ? 40 : 200)),
        );
        await Promise.race([ended, exited]);
        child.kill('SIGKILL');
        await exited;
        await check(directory);
        // As if it were new, for the next round.
        if (round % 3 === 2) await store.remove(name);
      }
      const pulled = await store.pull(name, { signal: never });
      const { directories } = await store.unpack(pulled, never);
      assert.equal(directories.length, layers.length);
      await check(directory);
    });
  } finally {
    await registry.stop();
  }
});

test('what a killed process has left is removed in time', async () => {
  await withStore(async ({ directory }) => {
    const { writeFile } = await import('node:fs/promises');
    const hour = 3_600_000;
    const left = ['incoming/abc', 'incoming/x.load', 'blobs/sha256/def', 'index.json.x.new'];
    for (const path of left) await writeFile(join(directory, path), 'x');
    const old = (Date.now() - 2 * hour) / 1000;
    for (const path of left) utimesSync(join(directory, path), old, old);
    await writeFile(join(directory, 'incoming/young'), 'x');
    await (await openImageStore({ directory })).close();
    const exists = (path: string): boolean =>
      statSync(join(directory, path), { throwIfNoEntry: false }) !== undefined;
    assert.deepEqual(left.filter(exists), []);
    assert.ok(exists('incoming/young'));
  });
});

test('processes that pull one image at once share its downloads and its layers', {
  timeout: 60_000,
}, async () => {
  const registry = await serveRegistry();
  registry.add('a:1', image);
  try {
    await withStore(async ({ directory }) => {
      const children = [1, 2, 3].map(() => start(directory, `${registry.host}/a:1`));
      const outputs = children.map(async (child) => {
        let text = '';
        child.stdout?.on('data', (part: Buffer) => {
          text += part.toString();
        });
        const [code] = await once(child, 'close');
        assert.equal(code, 0);
        return text;
      });
      assert.equal(new Set(await Promise.all(outputs)).size, 1);
      const blobs = registry.requests.filter((line) => line.includes('/blobs/'));
      assert.equal(blobs.length, new Set(blobs).size);
      await check(directory);
    });
  } finally {
    await registry.stop();
  }
});
