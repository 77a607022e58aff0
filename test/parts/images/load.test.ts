// Images from files, and the commands that people type.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { isImageError } from '../../../src/images/image-error.ts';
import {
  type BuiltImage,
  buildImage,
  dockerArchive,
  layerOf,
  layoutFiles,
  writeLayout,
} from '../harness/images/build-image.ts';
import { serveRegistry } from '../harness/images/serve-registry.ts';
import { never, withStore } from '../harness/images/store-harness.ts';
import { tarOf } from '../harness/images/tar-writer.ts';

const program = fileURLToPath(new URL('../../../../bin/fairlead', import.meta.url));

const first = buildImage({
  layers: [layerOf([{ name: 'a', content: 'base' }]), layerOf([{ name: 'b', content: 'one' }])],
});
const second = buildImage({
  layers: [layerOf([{ name: 'a', content: 'base' }]), layerOf([{ name: 'b', content: 'two' }])],
});
const both = [
  { image: first, names: ['first:1', 'registry.example/first:1'] },
  { image: second, names: ['second:1'] },
];
const layout = [
  { image: first, name: 'docker.io/library/first:1' },
  { image: second, name: 'docker.io/library/second:1' },
];
const layoutTar = (): Buffer =>
  tarOf([...layoutFiles(layout)].map(([name, content]) => ({ name, content })));

async function inDirectory(use: (directory: string) => Promise<void> | void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-load-'));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A file with these bytes, or a directory. */
const forms: Readonly<Record<string, (path: string) => Promise<void> | void>> = {
  'an archive of docker save': (path) => writeFileSync(path, dockerArchive(both)),
  'a compressed archive': (path) => writeFileSync(path, gzipSync(dockerArchive(both))),
  'an OCI layout as a tar file': (path) => writeFileSync(path, layoutTar()),
  'an OCI layout': (path) => writeLayout(path, layout),
};

for (const [form, write] of Object.entries(forms)) {
  test(`load takes all images of ${form}`, () =>
    inDirectory((directory) =>
      withStore(async ({ store, directory: own }) => {
        await write(join(directory, 'x'));
        const loaded = await store.load(join(directory, 'x'), { signal: never });
        assert.deepEqual(
          loaded.map(({ id }) => id),
          [first.config.digest, second.config.digest],
        );
        const image = await store.find('second:1');
        assert.ok(image !== undefined);
        const { directories } = await store.unpack(image, never);
        assert.equal(readFileSync(join(directories[1] ?? '', 'b'), 'utf8'), 'two');
        assert.deepEqual(readdirSync(join(own, 'incoming')), []);
      }),
    ));
}

const layoutOf = (image: BuiltImage, change: (files: Map<string, Buffer>) => void): Buffer => {
  const files = new Map(layoutFiles([{ image }]));
  change(files);
  return tarOf([...files].map(([name, content]) => ({ name, content })));
};
const blobPath = `blobs/${first.layers[1]?.digest.replace(':', '/')}`;

const damaged: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
  nothing: [Buffer.alloc(0), /the archive is empty/],
  'what is no archive': [Buffer.from('x'.repeat(5000)), /not octal|wrong checksum/],
  'half of an archive': [dockerArchive(both).subarray(0, 3000), /ends within an entry/],
  'an archive of something else': [
    tarOf([{ name: 'x' }]),
    /neither manifest\.json, as docker save/,
  ],
  'a zstd file': [Buffer.from('28b52ffd00000000', 'hex'), /zstd -d/],
  'a manifest that is none': [
    tarOf([{ name: 'manifest.json', content: '{}' }]),
    /not a list of 1 to/,
  ],
  'paths that lead out': [
    tarOf([
      {
        name: 'manifest.json',
        content: JSON.stringify([{ Config: '../../../etc/passwd', Layers: [], RepoTags: [] }]),
      },
    ]),
    /has no file \.\.\/\.\.\/\.\.\/etc\/passwd/,
  ],
  'a link that leads out': [
    tarOf([
      { name: 'c.json', type: 'symlink', target: '/etc/passwd' },
      { name: 'manifest.json', content: '[{"Config":"c.json","Layers":[]}]' },
    ]),
    /has no file c\.json/,
  ],
  'a layout without a layer': [
    layoutOf(first, (files) => files.delete(blobPath)),
    /has no file blobs/,
  ],
  'a layout with another layer': [
    layoutOf(first, (files) => files.set(blobPath, Buffer.from('other'))),
    /want \d+ bytes of sha256/,
  ],
  'a bomb': [gzipSync(Buffer.alloc(300 * 2 ** 20)), /decompression bomb|wrong checksum|neither/],
};

for (const [what, [content, message]] of Object.entries(damaged)) {
  test(`load refuses ${what}, and leaves nothing`, () =>
    inDirectory((directory) =>
      withStore(async ({ store, directory: own }) => {
        const file = join(directory, 'x');
        writeFileSync(file, content);
        await assert.rejects(store.load(file, { signal: never }), (error) => {
          assert.ok(isImageError(error), String((error as Error).stack));
          assert.match(error.message, message);
          return error.message.startsWith(`cannot load "${file}": `);
        });
        assert.deepEqual(await store.list(), []);
        assert.deepEqual(readdirSync(join(own, 'incoming')), []);
      }),
    ));
}

test('load of a directory follows no links and waits for no pipes', () =>
  inDirectory((directory) =>
    withStore(async ({ store }) => {
      mkdirSync(join(directory, 'x'));
      symlinkSync('/etc/passwd', join(directory, 'x', 'manifest.json'));
      execFileSync('mkfifo', [join(directory, 'x', 'index.json')]);
      await assert.rejects(store.load(join(directory, 'x'), { signal: never }), /neither manifest/);
      await assert.rejects(store.load(join(directory, 'y'), { signal: never }), /no such file/);
    }),
  ));

const fairlead = (cwd: string, words: readonly string[], input?: Buffer) => {
  const env = { PATH: process.env.PATH, HOME: cwd };
  const run = spawnSync(process.execPath, [program, 'image', ...words], { cwd, env, input });
  return { code: run.status, out: String(run.stdout), err: String(run.stderr) };
};

test('fairlead image loads, lists and removes', () =>
  inDirectory((cwd) => {
    assert.match(fairlead(cwd, ['ls']).err, /There are no images\. Pull one/);
    const loaded = fairlead(cwd, ['load', '-'], dockerArchive(both));
    assert.deepEqual([loaded.code, loaded.err], [0, '']);
    assert.equal(
      loaded.out,
      `docker.io/library/first:1, registry.example/first:1 ${first.config.digest}\ndocker.io/library/second:1 ${second.config.digest}\n`,
    );
    const shortId = second.config.digest.slice(7, 19);
    assert.match(
      fairlead(cwd, ['ls']).out,
      /^NAME +IMAGE ID +SIZE\ndocker\.io\/library\/first:1 +/,
    );
    assert.match(fairlead(cwd, ['ls']).out, new RegExp(`second:1 +${shortId} +[\\d.]+kB`));
    const { items } = JSON.parse(fairlead(cwd, ['ls', '-o', 'json']).out) as {
      readonly items: readonly { readonly id: string; readonly names: readonly string[] }[];
    };
    assert.deepEqual(
      items.map(({ id }) => id),
      [first.config.digest, second.config.digest],
    );
    assert.equal(fairlead(cwd, ['rm', 'first:1']).out, 'Untagged: docker.io/library/first:1\n');
    const removed = fairlead(cwd, ['rm', shortId, 'registry.example/first:1']);
    assert.match(
      removed.out,
      /Deleted: sha256:.*\nUntagged: registry\.example\/first:1\nDeleted: /,
    );
    assert.deepEqual(readdirSync(join(cwd, '.fairlead/images/blobs/sha256')), []);
    const missing = fairlead(cwd, ['rm', 'first:1']);
    assert.deepEqual([missing.code, missing.err], [1, 'error: There is no image "first:1"\n']);
  }));

test('fairlead image says what is wrong', () =>
  inDirectory((cwd) => {
    const wrong = fairlead(cwd, ['pull', 'Nginx']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /couldn't parse image name "Nginx": .* must be lowercase\./);
    const missing = fairlead(cwd, ['load', 'nothing.tar']);
    assert.equal(missing.code, 1);
    assert.match(missing.err, /^error: cannot load ".*nothing\.tar": ENOENT/);
    writeFileSync(join(cwd, 'creds'), 'secret');
    const creds = fairlead(cwd, ['pull', 'a', '--creds-file', 'creds']);
    assert.equal(creds.code, 2);
    assert.match(
      creds.err,
      /Cannot use the credentials in ".*creds": the credentials are not JSON\./,
    );
    mkdirSync(join(cwd, '.fairlead'), { recursive: true });
    writeFileSync(join(cwd, '.fairlead/registries.yaml'), 'registries: {a/b: {}}');
    const settings = fairlead(cwd, ['pull', 'a']);
    assert.equal(settings.code, 2);
    assert.match(settings.err, /registries\.yaml": "a\/b" is not a registry/);
  }));

test('fairlead image pulls with the credentials of docker login', () =>
  inDirectory(async (cwd) => {
    const registry = await serveRegistry();
    try {
      registry.add('team/first:1', first);
      const wanted = `Basic ${Buffer.from('u:p').toString('base64')}`;
      registry.intercept = ({ headers }, response) => {
        if (headers.authorization === wanted) return false;
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
        return true;
      };
      mkdirSync(join(cwd, '.docker'));
      const auth = Buffer.from('u:p').toString('base64');
      const config = JSON.stringify({ auths: { [registry.host]: { auth } } });
      writeFileSync(join(cwd, '.docker/config.json'), config);
      const { out, err } = await run(cwd, ['pull', `${registry.host}/team/first:1`]);
      assert.equal(err, '');
      assert.equal(out, `${registry.host}/team/first:1 ${first.config.digest}\n`);
    } finally {
      await registry.stop();
    }
  }));

/** While this process serves the registry. */
async function run(cwd: string, words: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: cwd };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [program, 'image', ...words],
    { cwd, env },
  );
  return { out: stdout, err: stderr };
}
