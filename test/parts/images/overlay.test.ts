// The kernel's overlayfs reads what was unpacked: as root of the machine, and as root of a user namespace with a single ID.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildImage, layerOf } from '../harness/images/build-image.ts';
import { serveRegistry } from '../harness/images/serve-registry.ts';
import { withStore } from '../harness/images/store-harness.ts';

const program = fileURLToPath(new URL('./pull-process.js', import.meta.url));

const image = buildImage({
  layers: [
    layerOf([
      { name: 'gone', content: '' },
      { name: 'kept', content: '', uid: 1000, gid: 50 },
      { name: 'hidden/old', content: '' },
      { name: 'again/old', content: '' },
      { name: 'link', type: 'symlink', target: 'kept' },
    ]),
    layerOf([
      { name: '.wh.gone' },
      { name: 'hidden/', type: 'directory' },
      { name: 'hidden/.wh..wh..opq' },
      { name: 'hidden/new', content: '' },
      { name: '.wh.again' },
      { name: 'again/new', content: '' },
    ]),
  ],
});

/** Pulls, unpacks, mounts, and lists names with their owners; in the last line of its output. */
const script = `
layers=$("$0" "$1" "$2/images" "$3" | tr -d '[]"') || exit 1
upper=\${layers#*,}; lower=\${layers%,*}
case $lower in */user/*) options=,userxattr;; *) options=;; esac
mkdir "$2/merged" && mount -t overlay overlay -o "ro,lowerdir=$upper:$lower$options" "$2/merged" || exit 1
cd "$2/merged" && find . -mindepth 1 -printf '%P %U:%G\\n' | sort | tr '\\n' ' '
`;

const isRoot = process.getuid?.() === 0;
const canUnshare = (flags: readonly string[]): boolean =>
  spawnSync('unshare', [...flags, 'true']).status === 0;

const identities = [
  { who: 'root', flags: ['--mount'], owner: '1000:50', needs: isRoot },
  {
    who: 'root of a user namespace',
    flags: ['--user', '--map-root-user', '--mount'],
    owner: '0:0',
    needs: true,
  },
] as const;

for (const { who, flags, owner, needs } of identities) {
  const skip = needs && canUnshare(flags) ? false : `${who}: unshare is not permitted here`;
  test(`overlayfs reads layers that ${who} has unpacked`, { skip }, async () => {
    const registry = await serveRegistry();
    registry.add('a:1', image);
    try {
      await withStore(async ({ directory }) => {
        const above = directory.replace(/\/images$/, '');
        const { stdout } = await promisify(execFile)('unshare', [
          ...[...flags, 'sh', '-c', script, process.execPath, program],
          ...[above, `${registry.host}/a:1`],
        ]);
        assert.equal(
          stdout.trim(),
          `again 0:0 again/new 0:0 hidden 0:0 hidden/new 0:0 kept ${owner} link 0:0`,
        );
      });
    } finally {
      await registry.stop();
    }
  });
}
