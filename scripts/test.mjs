// `npm test [LANE...]`: prepares the clone, then runs the lanes in order and stops at the first that fails.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupTests } from './group-tests.mjs';
import { prepare, root } from './prepare.mjs';
import { installTools } from './test-tools.mjs';

const node = process.execPath;
/**
 * Most tests wait for something most of the time: several files at once, each with directories, ports and networks of its own. This reporter
 * repeats what failed at the end, where a log that is cut still has it.
 */
const atOnce = (files) => ['--test', '--test-reporter=spec', `--test-concurrency=${files}`];
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
  // Alone on the machine as far as that goes: they measure what the server's main thread does.
  hostile: [node, ...atOnce(1), '--test-timeout=600000', ...tests('test/hostile')],
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
const together = [['lint'], ['unit'], ['parts'], ['hostile'], ['conformance'], ['kernel', 'vm']];

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

await prepare();
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
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-lanes-'));
  const fileOf = (name) => join(directory, name);
  const [first, ...others] = names;
  const running = names.map((name) => start(name, name === first ? undefined : fileOf(name)));
  const failed = [];
  for (const [at, name] of names.entries()) {
    const status = await running[at];
    if (others.includes(name))
      process.stdout.write(`\n== ${name}\n${readFileSync(fileOf(name), 'utf8')}`);
    if (status !== 0) failed.push(name);
  }
  rmSync(directory, { recursive: true });
  return failed;
}

/** Resolves to its exit code. Its output goes to the file, if there is one. */
async function start(name, file) {
  if (file === undefined) process.stdout.write(`\n== ${name}\n`);
  const output = file === undefined ? 'inherit' : openSync(file, 'a');
  const [command, ...args] = all[name];
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output] });
  if (file !== undefined) closeSync(output);
  const [code] = await once(child, 'close');
  return code;
}
