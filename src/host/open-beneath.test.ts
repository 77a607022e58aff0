import assert from 'node:assert/strict';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closeDescriptor } from './native.ts';
import { makeBeneath, openBeneath, pathOnly, walk } from './open-beneath.ts';

const skip = process.platform === 'linux' ? false : 'needs Linux';

type Fixture = { readonly path: string; readonly volume: number; readonly outside: string };

function fixture(t: TestContext): Fixture {
  const directory = mkdtempSync(join(tmpdir(), 'beneath-'));
  const [path, outside] = [join(directory, 'volume'), join(directory, 'outside')];
  mkdirSync(join(path, 'a/b'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(path, 'a/file'), '');
  symlinkSync('a', join(path, 'inside'));
  symlinkSync(outside, join(path, 'absolute'));
  symlinkSync('../outside', join(path, 'upward'));
  symlinkSync('/proc/self/root/etc', join(path, 'magic'));
  const volume = openSync(path, constants.O_RDONLY);
  t.after(() => {
    closeSync(volume);
    rmSync(directory, { recursive: true, force: true });
  });
  return { path, volume, outside };
}

const cases: readonly (readonly [string, boolean, string])[] = [
  ['', false, ''],
  ['a/b', false, '/a/b'],
  ['./a//file', false, '/a/file'],
  ['inside', false, 'ELOOP'],
  ['inside/file', false, 'ELOOP'],
  ['inside/file', true, '/a/file'],
  ['absolute', true, 'EXDEV'],
  ['absolute', false, 'ELOOP'],
  ['upward', true, 'EXDEV'],
  ['magic/passwd', true, 'EXDEV'],
  ['a/../..', true, 'EXDEV'],
  ['none', false, 'ENOENT'],
];

for (const [name, followsLinks, expected] of cases) {
  test(`openBeneath() ${JSON.stringify(name)}, links ${followsLinks}: ${expected}`, {
    skip,
  }, (t) => {
    const { path, volume } = fixture(t);
    const open = (): number => openBeneath(volume, name, { flags: pathOnly, followsLinks });
    if (expected.startsWith('E')) return assert.throws(open, { code: expected });
    const descriptor = open();
    assert.equal(readlinkSync(`/proc/self/fd/${descriptor}`), path + expected);
    closeDescriptor(descriptor);
  });
}

test('walk(), for old kernels, refuses links too', { skip }, (t) => {
  const { volume } = fixture(t);
  for (const names of [['inside'], ['absolute', 'x'], ['upward', 'x']])
    assert.throws(() => walk(volume, names, { flags: pathOnly }), /ELOOP|ENOTDIR/);
  closeDescriptor(walk(volume, ['a', 'file'], { flags: pathOnly }));
});

test('makeBeneath() creates directories inside, and none behind a link', { skip }, (t) => {
  const { path, volume, outside } = fixture(t);
  closeDescriptor(makeBeneath(volume, 'a/new/deep', { mode: 0o777 }));
  assert.ok(existsSync(join(path, 'a/new/deep')));
  for (const link of ['absolute', 'upward', 'magic']) {
    const make = (): number => makeBeneath(volume, `${link}/made`, { mode: 0o777 });
    assert.throws(make, /ELOOP|ENOTDIR/);
  }
  assert.equal(existsSync(join(outside, 'made')), false);
});
