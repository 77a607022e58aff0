// `npm test [LANE...]`: prepares the clone, then runs the lanes in order and stops at the first that fails.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { installTools } from './test-tools.mjs';

const node = process.execPath;
const lanes = () => ({
  lint: [
    [
      node,
      join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
      'check',
      '--error-on-warnings',
      root,
    ],
  ],
  unit: [[node, '--test', ...tests('src'), ...tests('test/unit')]],
  parts: [
    [
      node,
      '--test',
      '--test-concurrency=1',
      // Other people's clients keep timers and sockets after their last test.
      '--test-force-exit',
      ...tests('test/parts'),
      ...tests('test/fuzz'),
      ...tests('test/crash'),
    ],
  ],
  conformance: [[node, '--test', '--test-concurrency=1', ...tests('test/lanes')]],
  kernel: canMakeNetworks()
    ? [[node, '--test', '--test-concurrency=1', ...tests('test/netns')]]
    : [['echo', 'Skipped: it needs root and network namespaces (unshare --net).']],
  vm: canRunMachine()
    ? [
        [
          join(root, 'scripts', 'vm-run.sh'),
          node,
          '--test',
          '--test-concurrency=1',
          ...tests('test/vm'),
        ],
      ]
    : [
        [
          'echo',
          'Skipped: it needs root, qemu-system-x86 and kmod, for a kernel with IPVS and SCTP.',
        ],
      ],
});

/** Most kernels of build machines have no IPVS: a virtual machine has. */
function canRunMachine() {
  const programs = ['qemu-system-x86_64', 'depmod', 'setpriv'];
  const isThere = (name) => spawnSync('which', [name], { stdio: 'ignore' }).status === 0;
  return process.getuid?.() === 0 && programs.every(isThere);
}

/** Tests of the data plane make networks of their own, which takes root on Linux. */
function canMakeNetworks() {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--net', 'true']).status === 0;
}

/** Node 20 takes no patterns: the files by name. */
function tests(folder) {
  const directory = join(root, 'dist', folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .sort()
    .map((file) => join(directory, file));
}

prepare();
installTools();
const all = lanes();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in all));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown lane ${unknown.join(', ')}; there are ${Object.keys(all).join(', ')}.\n`,
  );
  process.exit(2);
}
for (const [name, commands] of Object.entries(all)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  for (const [command, ...args] of commands) {
    const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) {
      process.stderr.write(`\nLane ${name} failed.\n`);
      process.exit(status ?? 1);
    }
  }
}
