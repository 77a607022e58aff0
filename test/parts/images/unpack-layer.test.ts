import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { copyLayers } from '../../../src/images/copy-layers.ts';
import { parseIdMap } from '../../../src/images/unpack/map-owner.ts';
import { UnpackError } from '../../../src/images/unpack/unpack-error.ts';
import { type UnpackJob, unpackLayer } from '../../../src/images/unpack/unpack-layer.ts';
import { type TarEntry, tarHeader, tarOf } from '../harness/images/tar-writer.ts';

const isRoot = process.getuid?.() === 0;
const everyId = parseIdMap(readFileSync('/proc/self/uid_map', 'latin1'));
const hasAllIds = everyId.some(({ count }) => count > 2 ** 31);

type Layer = readonly TarEntry[] | Buffer;
type Options = Partial<UnpackJob> & { readonly compressed?: Buffer };

/** Calls `check` with the directory, and with what is beside it: it must stay empty. */
async function unpacked(
  layer: Layer,
  check: (directory: string) => void,
  { compressed, ...options }: Options = {},
): Promise<void> {
  const above = mkdtempSync(join(tmpdir(), 'fairlead-layer-'));
  const directory = join(above, 'a', 'layer');
  const blob = join(above, 'blob');
  try {
    mkdirSync(directory, { recursive: true });
    const tar = Buffer.isBuffer(layer) ? layer : tarOf(layer as readonly TarEntry[]);
    writeFileSync(blob, compressed ?? tar);
    await unpackLayer({
      ...{ blob, directory, form: 'files', canMakeDevices: false },
      diffId: `sha256:${createHash('sha256').update(tar).digest('hex')}`,
      owners: { canChange: isRoot, users: everyId, groups: everyId },
      limits: { maxLayerBytes: 2 ** 30, maxLayerEntries: 1000 },
      ...options,
    });
    check(directory);
  } finally {
    assert.deepEqual(readdirSync(above).sort(), ['a', 'blob']);
    assert.deepEqual(readdirSync(join(above, 'a')), ['layer']);
    execFileSync('chmod', ['-R', 'u+rwX', above]);
    rmSync(above, { recursive: true });
  }
}

const refused = (layer: Layer, message: RegExp, options: Options = {}): Promise<void> =>
  assert.rejects(
    unpacked(layer, () => {}, options),
    (error) => {
      assert.ok(error instanceof UnpackError, String(error));
      assert.match(error.message, message);
      return true;
    },
  );

const text = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');

function writing(): void {
  it('writes files, directories and links', () =>
    unpacked(
      [
        { name: './', type: 'directory', mode: 0o711 },
        { name: 'etc/', type: 'directory', mode: 0o555, mtime: 1000 },
        { name: 'etc/a', content: 'one', mode: 0o640, mtime: 2000 },
        { name: 'etc/b', type: 'link', target: 'etc/a' },
        { name: 'etc/c', type: 'symlink', target: '/etc/a', mtime: 3000 },
        { name: 'deep/er/d', content: Buffer.alloc(100_000, 1) },
        { name: 'bin/su', content: 'x', mode: 0o4755 },
        { name: 'pipe', type: 'fifo', mode: 0o600 },
        { name: '/abs', content: 'inside' },
      ],
      (directory) => {
        assert.equal(statSync(directory).mode & 0o777, 0o711);
        const etc = statSync(join(directory, 'etc'));
        assert.deepEqual([etc.mode & 0o777, etc.mtimeMs], [0o555, 1_000_000]);
        const a = statSync(join(directory, 'etc/a'));
        assert.deepEqual([a.mode & 0o777, a.mtimeMs, a.nlink], [0o640, 2_000_000, 2]);
        assert.equal(readlinkSync(join(directory, 'etc/c')), '/etc/a');
        assert.equal(lstatSync(join(directory, 'etc/c')).mtimeMs, 3_000_000);
        assert.equal(statSync(join(directory, 'deep')).mode & 0o777, 0o755);
        assert.equal(statSync(join(directory, 'deep/er/d')).size, 100_000);
        assert.equal(statSync(join(directory, 'bin/su')).mode & 0o7777, 0o4755);
        assert.ok(statSync(join(directory, 'pipe')).isFIFO());
        assert.equal(text(directory, 'abs'), 'inside');
      },
    ));

  it('reads long names, in both forms, and names that are not UTF-8', () => {
    const long = `${'d/'.repeat(80)}${'n'.repeat(200)}`;
    return unpacked(
      [
        { name: long, content: 'gnu' },
        { name: 'x', content: 'pax', pax: { path: `p/${long}`, mtime: '1234.5' } },
        { name: 'y', content: 'bytes', pax: { path: Buffer.from([0x79, 0xff, 0xfe]) } },
      ],
      (directory) => {
        assert.equal(text(directory, long), 'gnu');
        assert.equal(text(directory, 'p', long), 'pax');
        assert.equal(statSync(join(directory, 'p', long)).mtimeMs, 1_234_500);
        const names = readdirSync(directory, 'buffer').map((name) => name.toString('hex'));
        assert.ok(names.includes('79fffe'));
      },
    );
  });

  it('reads gzip of several members, and plain tar files', async () => {
    const tar = tarOf([{ name: 'a', content: 'x'.repeat(5000) }]);
    const compressed = Buffer.concat([
      gzipSync(tar.subarray(0, 3000)),
      gzipSync(tar.subarray(3000)),
    ]);
    const check = (directory: string): void => assert.equal(text(directory, 'a').length, 5000);
    await unpacked(tar, check, { compressed });
    await unpacked(tar, check);
  });

  it('follows links of the layer inside the layer only', () =>
    unpacked(
      [
        { name: 'lib', type: 'symlink', target: 'usr/lib' },
        { name: 'lib/a', content: 'one' },
        { name: 'abs', type: 'symlink', target: '/etc' },
        { name: 'abs/passwd', content: 'two' },
        { name: 'up', type: 'symlink', target: '../../../..' },
        { name: 'up/b', content: 'three' },
        { name: 'hard', type: 'link', target: 'abs/passwd' },
      ],
      (directory) => {
        assert.equal(text(directory, 'usr/lib/a'), 'one');
        assert.equal(text(directory, 'etc/passwd'), 'two');
        assert.equal(text(directory, 'b'), 'three');
        assert.equal(text(directory, 'hard'), 'two');
      },
    ));
}

function replacing(): void {
  it('does not write through a link that an entry replaces', () =>
    unpacked(
      [
        { name: 'a', type: 'symlink', target: '/etc/passwd' },
        { name: 'a', content: 'own' },
        { name: 'd/', type: 'directory' },
        { name: 'd/x', content: '' },
        { name: 'd', type: 'symlink', target: 'e' },
        { name: 'd/y', content: 'through' },
        { name: 'f', content: 'file' },
        { name: 'f/', type: 'directory' },
      ],
      (directory) => {
        assert.ok(lstatSync(join(directory, 'a')).isFile());
        assert.equal(text(directory, 'e/y'), 'through');
        assert.ok(statSync(join(directory, 'f')).isDirectory());
      },
    ));

  it('keeps whiteouts as files where overlayfs cannot be used', () =>
    unpacked(
      [
        { name: 'etc/.wh.passwd', content: '' },
        { name: 'var/.wh..wh..opq', content: '' },
        { name: 'var/a', content: '' },
        { name: '.wh..wh.plnk', content: '' },
        { name: '.wh.dir' },
        { name: 'dir/', type: 'directory' },
        { name: 'own', content: '' },
        { name: '.wh.own' },
      ],
      (directory) => {
        assert.deepEqual(readdirSync(join(directory, 'etc')), ['.wh.passwd']);
        assert.deepEqual(readdirSync(join(directory, 'var')).sort(), ['.wh..wh..opq', 'a']);
        // Removed below and made anew: nothing of the lower one shows.
        assert.deepEqual(readdirSync(join(directory, 'dir')), ['.wh..wh..opq']);
        assert.deepEqual(readdirSync(directory).sort(), ['.wh.dir', 'dir', 'etc', 'own', 'var']);
      },
    ));

  it('makes whiteouts of overlayfs', () =>
    unpacked(
      [{ name: 'etc/.wh.passwd' }, { name: '.wh.dir' }, { name: 'dir/a', content: 'x' }],
      (directory) => {
        const removed = lstatSync(join(directory, 'etc/passwd'));
        assert.ok(removed.isCharacterDevice());
        assert.equal(removed.rdev, 0);
        assert.equal(text(directory, 'dir/a'), 'x');
        const attribute = execFileSync('python3', [
          ...['-c', 'import os,sys; print(os.getxattr(sys.argv[1], "user.overlay.opaque"))'],
          join(directory, 'dir'),
        ]);
        assert.match(attribute.toString(), /y/);
      },
      { form: 'user' },
    ));
}

function leavingOut(): void {
  it('leaves out devices and what only overlayfs may say', () =>
    unpacked(
      [
        { name: 'null', type: 'character', device: [1, 3] },
        { name: 'disk', type: 'block', device: [8, 0] },
        { name: 'hole', type: 'character', device: [0, 0] },
        {
          name: 'a',
          pax: {
            'SCHILY.xattr.user.overlay.redirect': '/etc',
            'SCHILY.xattr.trusted.overlay.metacopy': '',
            'SCHILY.xattr.user.mine': 'yes',
          },
        },
      ],
      (directory) => {
        assert.deepEqual(readdirSync(directory), ['a']);
        const names = execFileSync('python3', [
          ...['-c', 'import os,sys; print(os.listxattr(sys.argv[1]))', join(directory, 'a')],
        ]);
        assert.equal(names.toString().trim(), "['user.mine']");
      },
    ));

  it('gives files their owners', { skip: !(isRoot && hasAllIds) && 'needs root' }, () =>
    unpacked(
      [
        { name: 'd/', type: 'directory', uid: 5, gid: 6 },
        { name: 'd/a', content: '', uid: 1000, gid: 100, mode: 0o6755 },
        { name: 'd/b', type: 'symlink', target: 'a', uid: 7, gid: 8 },
        { name: 'big', content: '', pax: { uid: '4000000000', gid: '99999999999' } },
      ],
      (directory) => {
        const owner = (path: string): readonly number[] => {
          const { uid, gid } = lstatSync(join(directory, path));
          return [uid, gid];
        };
        assert.deepEqual(['d', 'd/a', 'd/b', 'big'].map(owner), [
          [5, 6],
          [1000, 100],
          [7, 8],
          [4_000_000_000, 0],
        ]);
        assert.equal(statSync(join(directory, 'd/a')).mode & 0o7777, 0o6755);
      },
    ),
  );
}

const attacks: Readonly<Record<string, readonly [TarEntry[], RegExp]>> = {
  '..': [[{ name: '../a', content: 'x' }], /".." leads out/],
  '.. within a path': [[{ name: 'a/../../b', content: 'x' }], /".." leads out/],
  '.. in an absolute path': [[{ name: '/../a', content: 'x' }], /".." leads out/],
  'a hard link to the outside': [
    [{ name: 'a', type: 'link', target: '/etc/passwd' }],
    /not in this layer/,
  ],
  'a hard link by ..': [
    [{ name: 'a', type: 'link', target: '../../etc/passwd' }],
    /".." leads out/,
  ],
  'a hard link through a link': [
    [
      { name: 'd', type: 'symlink', target: '/etc' },
      { name: 'a', type: 'link', target: 'd/passwd' },
    ],
    /not in this layer/,
  ],
  'a hard link to a directory': [
    [
      { name: 'd/', type: 'directory' },
      { name: 'a', type: 'link', target: 'd' },
    ],
    /is a directory/,
  ],
  'a loop of links': [
    [
      { name: 'a', type: 'symlink', target: 'b' },
      { name: 'b', type: 'symlink', target: 'a' },
      { name: 'a/c', content: '' },
    ],
    /too many links/,
  ],
  'a whiteout of ..': [[{ name: 'a/.wh...' }], /names no entry/],
  'a whiteout of the directory itself': [[{ name: 'a/.wh..' }], /names no entry/],
  'entries below a whiteout': [[{ name: '.wh.a/b' }], /below a whiteout/],
  'entries below a file': [[{ name: 'a' }, { name: 'a/b' }], /not a directory/],
  'the root as a file': [[{ name: './', type: 'symlink', target: '/etc' }], /root/],
  'a long name': [[{ name: 'n'.repeat(256) }], /too long/],
  'a long path': [[{ name: 'x', pax: { path: 'd/'.repeat(2000) } }], /too long/],
  'a path beyond all limits': [[{ name: 'x', pax: { path: 'd/'.repeat(5000) } }], /10000 bytes/],
  'a huge extended header': [
    [{ name: 'x', pax: { comment: 'x'.repeat(300_000) } }],
    /extended header has 300/,
  ],
  'a huge GNU name': [[{ name: 'n'.repeat(10_000) }], /extended header has 10001/],
  'too many extended headers': [
    Array.from({ length: 20 }, () => ({ name: 'p', type: 'pax', content: '' })),
    /more than 8 extended headers/,
  ],
  'a sparse file': [[{ name: 'a', type: 'sparse' }], /sparse/],
  'a sparse file of POSIX': [[{ name: 'a', pax: { 'GNU.sparse.major': '1' } }], /sparse/],
  'too many entries': [
    Array.from({ length: 1001 }, (_, at) => ({ name: `f${at}` })),
    /more than 1000 files/,
  ],
};

function refusing(): void {
  for (const [name, [entries, message]] of Object.entries(attacks)) {
    it(`refuses ${name}`, () => refused(entries, message));
  }

  it('refuses what is not what it should be', async () => {
    const tar = tarOf([{ name: 'a', content: 'x'.repeat(2000) }]);
    await refused(tar, /mismatched diff ID/, { diffId: `sha256:${'0'.repeat(64)}` });
    await refused(tar.subarray(0, 1000), /ends within an entry/);
    await refused(tar, /damaged/, { compressed: gzipSync(tar).subarray(0, 60) });
    await refused(Buffer.alloc(512, 7), /not octal|checksum/);
    const broken = Buffer.from(tar);
    broken[3] = 1;
    await refused(broken, /checksum/);
    await refused(tar, /more than 1000 bytes/, {
      limits: { maxLayerBytes: 1000, maxLayerEntries: 10 },
    });
    const negative = tarHeader({ name: 'a' }, 0);
    negative.fill(0xff, 124, 136);
    await refused(negative, /checksum|out of range/);
  });

  it('refuses a bomb before it fills the disk', async () => {
    const megabyte = Buffer.alloc(2 ** 20);
    const zeros = Buffer.concat(Array.from({ length: 400 }, () => megabyte));
    const tar = tarOf([{ name: 'zeros', content: zeros }]);
    let written = 0;
    await assert.rejects(
      unpacked(tar, () => {}, {
        compressed: gzipSync(tar),
        limits: { maxLayerBytes: 2 ** 40, maxLayerEntries: 10 },
      }),
      /decompression bomb: (\d+) bytes/,
    );
    assert.ok(written < 2 ** 30);
    written += 1;
  });

  it('reads zstd where Node.js can, and says so where it cannot', async () => {
    const tar = tarOf([{ name: 'a', content: 'x' }]);
    const compressed = Buffer.concat([Buffer.from('28b52ffd', 'hex'), Buffer.alloc(20)]);
    await refused(tar, /zstd, which Node.js|damaged/, { compressed });
  });

  it('leaves nothing open when it fails', async () => {
    const before = readdirSync('/proc/self/fd').length;
    await refused([{ name: 'a/b/c' }, { name: '../x' }], /leads out/);
    assert.ok(readdirSync('/proc/self/fd').length <= before + 1);
    assert.ok(existsSync('/proc/self/fd'));
  });
}

describe('unpackLayer()', () => {
  writing();
  replacing();
  leavingOut();
  refusing();
});

const copied: readonly (readonly TarEntry[])[] = [
  [
    { name: 'a', content: 'first' },
    { name: 'gone', content: '' },
    { name: 'd/old', content: '' },
    { name: 'e/x', content: 'one' },
    { name: 'e/y', content: 'two', mode: 0o4711 },
    { name: 'lib', type: 'symlink', target: 'e' },
  ],
  [
    { name: './', type: 'directory', mode: 0o750 },
    { name: 'a', content: 'second' },
    { name: 'b', type: 'link', target: 'a' },
    { name: '.wh.gone' },
    { name: 'd/', type: 'directory' },
    { name: 'd/.wh..wh..opq' },
    { name: 'd/new' },
    { name: 'e/x', content: 'replaced' },
    { name: 'lib/z' },
    { name: 'pipe', type: 'fifo' },
    { name: 's', type: 'symlink', target: 'a', mtime: 5000 },
  ],
];

describe('copyLayers()', () => {
  for (const form of ['files', 'user'] as const) {
    it(`lays layers on top of each other, in the form «${form}»`, async () => {
      const above = mkdtempSync(join(tmpdir(), 'fairlead-copy-'));
      try {
        const directories: string[] = [];
        for (const [at, entries] of copied.entries()) {
          const tar = tarOf(entries);
          const directory = join(above, `layer-${at}`);
          mkdirSync(directory);
          writeFileSync(join(above, 'blob'), tar);
          await unpackLayer({
            ...{ blob: join(above, 'blob'), directory, form, canMakeDevices: false },
            diffId: `sha256:${createHash('sha256').update(tar).digest('hex')}`,
            owners: { canChange: isRoot, users: everyId, groups: everyId },
            limits: { maxLayerBytes: 2 ** 30, maxLayerEntries: 1000 },
          });
          directories.push(directory);
        }
        const target = join(above, 'target');
        mkdirSync(target);
        await copyLayers({ form, directories }, target, new AbortController().signal);
        const found = (readdirSync(target, { recursive: true }) as string[]).sort();
        assert.deepEqual(found, [
          'a',
          'b',
          'd',
          'd/new',
          'e',
          'e/x',
          'e/y',
          'lib',
          'lib/z',
          'pipe',
          's',
        ]);
        assert.equal(statSync(target).mode & 0o7777, 0o750);
        assert.equal(statSync(join(target, 'a')).ino, statSync(join(target, 'b')).ino);
        assert.deepEqual([text(target, 'a'), text(target, 'e/x')], ['second', 'replaced']);
        assert.equal(statSync(join(target, 'e/y')).mode & 0o7777, 0o4711);
        assert.equal(lstatSync(join(target, 's')).mtimeMs, 5_000_000);
        assert.ok(lstatSync(join(target, 'lib')).isDirectory());
        assert.ok(statSync(join(target, 'pipe')).isFIFO());
      } finally {
        rmSync(above, { recursive: true });
      }
    });
  }
});
