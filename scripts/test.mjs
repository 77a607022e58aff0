// `npm test [LANE...]`: prepares the clone, then runs the lanes in order and stops at the first that fails.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { groupTests } from './group-tests.mjs';
import { prepare, root } from './prepare.mjs';
import { installTools } from './test-tools.mjs';

const node = process.execPath;
/** Most tests wait for something most of the time: several files at once, each with directories, ports and networks of its own. */
const atOnce = (files) => ['--test', `--test-concurrency=${files}`];
const lanes = () => ({
  lint: [
    node,
    join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
    ...['check', '--error-on-warnings', root],
  ],
  unit: [
    // A test that fails may leave a server open, and so its process.
    ...[node, ...atOnce(availableParallelism()), '--test-timeout=300000'],
    ...groupTests(join(root, 'dist'), [...tests('src'), ...tests('test/unit')]),
  ],
  parts: [
    // Other people's clients keep timers and sockets after their last test.
    ...[node, ...atOnce(2), '--test-force-exit'],
    ...[...tests('test/parts'), ...tests('test/fuzz'), ...tests('test/crash')],
  ],
  conformance: [node, ...atOnce(4), ...tests('test/lanes')],
  kernel: canMakeNetworks()
    ? [node, ...atOnce(2), ...tests('test/netns')]
    : ['echo', 'Skipped: it needs root and network namespaces (unshare --net).'],
  vm: canRunMachine()
    ? [join(root, 'scripts', 'vm-run.sh'), node, ...atOnce(1), ...tests('test/vm')]
    : [
        'echo',
        'Skipped: it needs root, qemu-system-x86 and kmod, for a kernel with IPVS and SCTP.',
      ],
});
/** Lanes of one line run side by side: the virtual machine has a processor of its own. */
const together = [['lint'], ['unit'], ['parts'], ['conformance'], ['kernel', 'vm']];

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
const chosen = wanted.length > 0 ? wanted : Object.keys(all);
for (const names of together) {
  const failed = await runTogether(names.filter((name) => chosen.includes(name)));
  if (failed.length === 0) continue;
  process.stderr.write(`\nLane ${failed.join(' and ')} failed.\n`);
  process.exit(1);
}

/** The first speaks at once, the others when it has ended. Returns those that failed. */
async function runTogether(names) {
  const running = names.map((name, at) => start(name, at === 0));
  const failed = [];
  for (const [at, { output, status }] of running.entries()) {
    if (at > 0) {
      const text = await output;
      process.stdout.write(`\n== ${names[at]}\n${text}`);
    }
    if ((await status) !== 0) failed.push(names[at]);
  }
  return failed;
}

function start(name, isHeard) {
  if (isHeard) process.stdout.write(`\n== ${name}\n`);
  const [command, ...args] = all[name];
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', ...(isHeard ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
  });
  return { output: textOf(child), status: once(child, 'close').then(([code]) => code) };
}

async function textOf({ stdout, stderr }) {
  let text = '';
  for (const stream of [stdout, stderr])
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  await Promise.all([stdout, stderr].map((stream) => stream && once(stream, 'end')));
  return text;
}
