// Pulling from registries that work: Debian's, and one that shows what was requested.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isImageError } from '../../../src/images/image-error.ts';
import type { PullProgress } from '../../../src/images/image-store.ts';
import type { Keyring } from '../../../src/images/keyring.ts';
import {
  buildImage,
  busyboxImage,
  busyboxMissing,
  layerOf,
} from '../harness/images/build-image.ts';
import {
  registryLogin,
  registryMissing,
  startRegistry,
} from '../harness/images/registry-process.ts';
import { type ServedRegistry, serveRegistry } from '../harness/images/serve-registry.ts';
import { never, withStore } from '../harness/images/store-harness.ts';

const files = (directory: string): readonly string[] =>
  (readdirSync(directory, { recursive: true }) as string[]).sort();

const small = (content: string) =>
  buildImage({
    layers: [
      layerOf([
        { name: 'etc/', type: 'directory' },
        { name: 'etc/a', content },
      ]),
      layerOf([{ name: 'etc/b', content: 'two' }], 'docker'),
      layerOf([{ name: 'etc/.wh.a' }], 'plain'),
    ],
    config: {
      ...{ Entrypoint: ['/bin/e'], Cmd: ['c'], Env: ['A=b'], User: 'app:staff', WorkingDir: '/w' },
      ...{ StopSignal: 'SIGQUIT', Volumes: { '/v': {} }, ExposedPorts: { '80/tcp': {} } },
      Labels: { l: 'x' },
    },
  });

async function withRegistry(use: (registry: ServedRegistry) => Promise<void>): Promise<void> {
  const registry = await serveRegistry();
  try {
    await use(registry);
  } finally {
    await registry.stop();
  }
}

test('an image is pulled, described, unpacked and removed', () =>
  withRegistry((registry) =>
    withStore(async ({ store, directory }) => {
      const built = small('one');
      registry.add('team/app:1', built);
      const name = `${registry.host}/team/app:1`;
      const progress: PullProgress[] = [];
      const image = await store.pull(name, {
        signal: never,
        onProgress: (one) => progress.push(one),
      });
      assert.equal(image.id, built.config.digest);
      assert.deepEqual(image.names, [name]);
      assert.deepEqual(image.digests, [`${registry.host}/team/app@${built.manifest.digest}`]);
      assert.deepEqual(
        image.layers,
        built.layers.map(({ diffId }) => diffId),
      );
      assert.deepEqual(image.config, {
        ...{ entrypoint: ['/bin/e'], cmd: ['c'], env: ['A=b'], user: 'app:staff' },
        ...{ workingDir: '/w', stopSignal: 'SIGQUIT', volumes: ['/v'], exposedPorts: ['80/tcp'] },
        ...{ labels: { l: 'x' }, os: 'linux' },
        architecture: arch() === 'x64' ? 'amd64' : arch(),
      });
      const last = progress.at(-1);
      assert.equal(last?.layersDone, 3);
      assert.equal(last?.doneBytes, last?.totalBytes);
      const found = await store.find(name);
      for (const other of [image.id, image.id.slice(7, 19), image.digests[0] ?? ''])
        assert.deepEqual(await store.find(other), found);

      const { directories, form } = await store.unpack(image, never);
      assert.deepEqual(files(directories[0] ?? ''), ['etc', 'etc/a']);
      assert.deepEqual(files(directories[1] ?? ''), ['etc', 'etc/b']);
      assert.deepEqual(files(directories[2] ?? ''), [
        'etc',
        `etc/${form === 'files' ? '.wh.a' : 'a'}`,
      ]);
      assert.deepEqual((await store.unpack(image, never)).directories, directories);
      assert.deepEqual(await store.remove(name), { untagged: [name], deleted: image.id });
      assert.deepEqual(await store.list(), []);
      assert.deepEqual(readdirSync(join(directory, 'blobs/sha256')), []);
    }),
  ));

test('everything in a store is for its user only', () =>
  withRegistry((registry) =>
    withStore(async ({ store, directory }) => {
      registry.add('a:1', small('one'));
      const image = await store.pull(`${registry.host}/a:1`, { signal: never });
      await store.unpack(image, never);
      const open = files(directory).filter(
        (path) => !path.includes('/root/') && (statSync(join(directory, path)).mode & 0o077) !== 0,
      );
      // The top of a layer has the mode of the root of containers, below a directory that is closed.
      assert.deepEqual(
        open.filter((path) => !path.endsWith('/root')),
        [],
      );
      assert.equal(statSync(directory).mode & 0o777, 0o700);
    }),
  ));

test('layers that are here are not fetched again, and images that are here not at all', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      registry.add('a:1', small('one'));
      registry.add('a:2', small('other'));
      await store.pull(`${registry.host}/a:1`, { signal: never });
      const before = registry.requests.length;
      await store.pull(`${registry.host}/a:1`, { signal: never });
      assert.deepEqual(
        registry.requests.slice(before).map((line) => line.split(' ')[0]),
        ['HEAD'],
      );
      const second = registry.requests.length;
      await store.pull(`${registry.host}/a:2`, { signal: never });
      const blobs = registry.requests.slice(second).filter((line) => line.includes('/blobs/'));
      // The configuration and the one layer that differs.
      assert.equal(blobs.length, 2);
    }),
  ));

test('a name moves to the new image, and the old one stays without a name', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      const name = `${registry.host}/a:1`;
      registry.add('a:1', small('one'));
      const old = await store.pull(name, { signal: never });
      registry.add('a:1', small('two'));
      const fresh = await store.pull(name, { signal: never });
      assert.notEqual(old.id, fresh.id);
      assert.deepEqual((await store.find(old.id))?.names, []);
      assert.equal((await store.find(name))?.id, fresh.id);
    }),
  ));

test('an image that is here is refused to those who may not pull it', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      registry.add('a:1', small('one'));
      const wanted = `Basic ${Buffer.from('u:p').toString('base64')}`;
      registry.intercept = ({ headers }, response) => {
        if (headers.authorization === wanted) return false;
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
        return true;
      };
      const login = { kind: 'password', username: 'u', password: 'p' } as const;
      const keyring = [{ pattern: registry.host, login }];
      const image = await store.pull(`${registry.host}/a:1`, { signal: never, keyring });
      for (const name of [...image.names, ...image.digests]) {
        const before = registry.requests.length;
        assert.equal((await store.pull(name, { signal: never, keyring })).id, image.id);
        assert.ok(registry.requests.slice(before).every((line) => line.startsWith('HEAD')));
        await assert.rejects(store.pull(name, { signal: never }), (error) =>
          isImageError(error, 'PermissionDenied'),
        );
      }
    }),
  ));

test('of several platforms the one of this machine is pulled, by tag and by digest', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      const own = buildImage({ layers: [layerOf([{ name: 'own' }])] });
      const other = buildImage({
        ...{ layers: [layerOf([{ name: 'other' }])], platform: { architecture: 'mips' } },
      });
      registry.add('a:1', other, own);
      registry.add('a:2', other, buildImage({ layers: [], platform: { os: 'windows' } }));
      const image = await store.pull(`${registry.host}/a:1`, { signal: never });
      assert.equal(image.id, own.config.digest);
      const [digest = ''] = image.digests;
      assert.equal((await store.pull(digest, { signal: never })).id, own.config.digest);
      await assert.rejects(
        store.pull(`${registry.host}/a:2`, { signal: never }),
        (error) =>
          isImageError(error, 'NotFound') &&
          /no match for platform in manifest: not found \(it has "linux\/mips windows/.test(
            error.message,
          ),
      );
    }),
  ));

test('two pulls of one image share its downloads, in one store and in two', () =>
  withRegistry((registry) =>
    withStore(async ({ store, directory }) => {
      registry.add('a:1', small('one'));
      const { openImageStore } = await import('../../../src/images/open-image-store.ts');
      const beside = await openImageStore({ directory });
      const pull = (from: typeof store) => from.pull(`${registry.host}/a:1`, { signal: never });
      const images = await Promise.all([pull(store), pull(store), pull(beside)]);
      assert.equal(new Set(images.map(({ id }) => id)).size, 1);
      const blobs = registry.requests.filter((line) => line.includes('/blobs/'));
      assert.equal(blobs.length, new Set(blobs).size);
      const unpacked = await Promise.all([
        ...images.map((image) => store.unpack(image, never)),
        ...images.map((image) => beside.unpack(image, never)),
      ]);
      assert.equal(new Set(unpacked.map(({ directories }) => directories.join())).size, 1);
      await beside.close();
    }),
  ));

test('a download that was cut off continues where it ended', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
      registry.add('a:1', buildImage({ layers: [layerOf([{ name: 'big', content }], 'plain')] }));
      const ranges: (string | undefined)[] = [];
      registry.intercept = ({ url, headers }, response) => {
        if (!url?.includes('/blobs/')) return false;
        ranges.push(headers.range);
        // Each connection ends after 100 kB.
        const write = response.write.bind(response);
        const { end } = response;
        response.end = ((body: Buffer) => {
          if (body.length <= 100_000) return end.call(response, body, 'utf8');
          write(body.subarray(0, 100_000), () => response.destroy());
          return response;
        }) as typeof response.end;
        return false;
      };
      const image = await store.pull(`${registry.host}/a:1`, { signal: never });
      const [directory = ''] = (await store.unpack(image, never)).directories;
      assert.ok(readFileSync(join(directory, 'big')).equals(content));
      const starts = ranges.flatMap((range) => (range === undefined ? [] : [range]));
      // A part of what is sent may be lost with its connection.
      assert.ok(starts.length >= 3, starts.join());
      assert.ok(new Set(starts).size === starts.length, starts.join());
    }),
  ));

test('mirrors are tried first, with credentials of their own', () =>
  withRegistry((mirror) =>
    withRegistry(async (registry) => {
      const registries = new Map([
        [
          'r.invalid',
          { mirrors: [`http://${registry.host}`, `http://${mirror.host}`], isInsecure: false },
        ],
      ]);
      await withStore(
        async ({ store }) => {
          mirror.add('team/app:1', small('one'));
          const seen: (string | undefined)[] = [];
          mirror.intercept = ({ headers }) => {
            seen.push(headers.authorization);
            return false;
          };
          const login = { kind: 'password', username: 'u', password: 'p' } as const;
          const keyring = [{ pattern: 'r.invalid', login }];
          const image = await store.pull('r.invalid/team/app:1', { signal: never, keyring });
          assert.deepEqual(image.names, ['r.invalid/team/app:1']);
          assert.ok(registry.requests.every((line) => line.endsWith('?ns=r.invalid')));
          assert.ok(mirror.requests.length > 2);
          assert.deepEqual(new Set(seen), new Set([undefined]));
        },
        { registries },
      );
    }),
  ));

test('what Debian’s registry has is pulled with a password', {
  skip: registryMissing() ?? busyboxMissing() ?? false,
}, async () => {
  const registry = await startRegistry({ hasPassword: true });
  try {
    await registry.push('library/busybox:1', busyboxImage());
    await withStore(async ({ store }) => {
      const name = `${registry.host}/library/busybox:1`;
      const { username, password } = registryLogin;
      const entry = (secret: string): Keyring => [
        {
          pattern: registry.host,
          login: { kind: 'password', username, password: secret },
        },
      ];
      await assert.rejects(store.pull(name, { signal: never }), (error) =>
        isImageError(error, 'PermissionDenied'),
      );
      await assert.rejects(
        store.pull(name, { signal: never, keyring: entry('wrong') }),
        (error) =>
          isImageError(error, 'PermissionDenied') && /401 Unauthorized/.test(error.message),
      );
      // The first one is refused, the second one fits.
      const keyring = [...entry('wrong'), ...entry(password)];
      const image = await store.pull(name, { signal: never, keyring });
      const { directories } = await store.unpack(image, never);
      assert.ok(statSync(join(directories[0] ?? '', 'bin/busybox')).size > 500_000);
      await assert.rejects(
        store.pull(`${registry.host}/library/nothing:1`, { signal: never, keyring }),
        (error) =>
          isImageError(error, 'NotFound') && error.message.endsWith('nothing:1: not found'),
      );
    });
  } finally {
    await registry.stop();
  }
});

test('an image in use is not removed, and garbage collection takes what is unused', () =>
  withRegistry((registry) => {
    let now = 1_000_000_000_000;
    return withStore(
      async ({ store, directory }) => {
        registry.add('a:1', small('one'));
        registry.add('b:1', small('two'));
        const a = await store.pull(`${registry.host}/a:1`, { signal: never });
        now += 60_000;
        const b = await store.pull(`${registry.host}/b:1`, { signal: never });
        await store.unpack(a, never);
        const { directories } = await store.unpack(b, never);
        const use = await store.use(a.id);
        await assert.rejects(store.remove(a.id), (error) => isImageError(error, 'InUse'));
        now += 3_600_000;
        const options = {
          ...{ highThresholdPercent: 100, lowThresholdPercent: 80, minAgeMs: 120_000 },
          ...{ now, inUse: new Set<string>(), signal: never },
        };
        const none = await store.collectGarbage({ ...options, maxAgeMs: 0 });
        assert.deepEqual(none.removed, []);
        const first = await store.collectGarbage({ ...options, maxAgeMs: 1000 });
        assert.deepEqual(
          first.removed.map(({ id }) => id),
          [b.id],
        );
        // Two layers are also those of the image in use.
        assert.deepEqual(
          directories.map((path) => statSync(path, { throwIfNoEntry: false }) !== undefined),
          [false, true, true],
        );
        use?.release();
        const used = await store.find(a.id);
        assert.equal(used?.lastUsed, now);
        now += 10_000;
        const last = await store.collectGarbage({ ...options, now, maxAgeMs: 1000 });
        assert.equal(last.removed.length, 1);
        assert.deepEqual(files(join(directory, 'blobs')), ['sha256']);
        const left = files(join(directory, 'layers')).filter((path) => path.includes('/'));
        assert.deepEqual(left, []);
      },
      { now: () => now },
    );
  }));

test('a full disk costs the images that are unused for longest', () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      registry.add('a:1', small('one'));
      await store.pull(`${registry.host}/a:1`, { signal: never });
      const result = await store.collectGarbage({
        ...{ highThresholdPercent: 0, lowThresholdPercent: 0, minAgeMs: 0, maxAgeMs: 0 },
        ...{ now: Date.now() + 1000, inUse: new Set<string>(), signal: never },
      });
      assert.equal(result.removed.length, 1);
      // All of the disk cannot be free: a kubelet's FreeDiskSpaceFailed.
      assert.ok(result.wantedBytes > result.freedBytes);
    }),
  ));

test('garbage collection beside pulls takes nothing that they need', { timeout: 120_000 }, () =>
  withRegistry((registry) =>
    withStore(async ({ store, directory }) => {
      const { openImageStore } = await import('../../../src/images/open-image-store.ts');
      const beside = await openImageStore({ directory });
      const name = `${registry.host}/a:1`;
      registry.add('a:1', small('one'));
      registry.add('b:1', small('two'));
      let isOver = false;
      const collecting = (async () => {
        while (!isOver) {
          await beside.collectGarbage({
            // A tenth of a second.
            ...{ highThresholdPercent: 0, lowThresholdPercent: 0, minAgeMs: 100, maxAgeMs: 0 },
            ...{ now: Date.now(), inUse: new Set<string>(), signal: never },
          });
        }
      })();
      let runs = 0;
      const run = async (round: number): Promise<void> => {
        const pulled = await store.pull(round % 2 === 0 ? name : name.replace('/a:', '/b:'), {
          signal: never,
        });
        const use = await store.use(pulled.id);
        // It may have been removed since: then there is no use of it.
        if (use === undefined) return;
        const { directories } = await store.unpack(use.image, never);
        assert.deepEqual(files(directories[1] ?? ''), ['etc', 'etc/b']);
        use.release();
        runs += 1;
      };
      try {
        for (let round = 0; round < 12; round += 1) {
          await run(round).catch((error: unknown) => {
            // A pull may take longer than images live here.
            if (!isImageError(error, 'Aborted')) throw error;
          });
        }
      } finally {
        isOver = true;
        await collecting;
      }
      await beside.close();
      assert.ok(runs > 0);
    }),
  ),
);

test('a directory that cannot be a store is refused', async () => {
  const above = mkdtempSync(join(tmpdir(), 'fairlead-images-'));
  try {
    writeFileSync(join(above, 'index.json'), '{"version":7}');
    const { openImageStore } = await import('../../../src/images/open-image-store.ts');
    await assert.rejects(
      openImageStore({ directory: above }),
      /cannot read the list of images .*version 7, want 1/,
    );
  } finally {
    rmSync(above, { recursive: true });
  }
});
