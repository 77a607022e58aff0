// `npm run e2e -- --suite PATH/e2e.test --focus REGEX`: runs the end-to-end suite of Kubernetes (which is not part of this project) against
// `fairlead up`, from a host beside the nodes, and sums up what passed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readReport, summarize } from './e2e-report.mjs';
import { prepare, root } from './prepare.mjs';

const usage = `Usage: npm run e2e -- --suite PATH [options] [-- FLAGS OF THE SUITE]

  --suite PATH       the program e2e.test of a Kubernetes release (required)
  --focus REGEX      specs to run (default: \\[sig-network\\].*\\[Conformance\\])
  --skip REGEX       specs to leave out
  --nodes N          nodes of the cluster (default: 2, the fewest that the suite accepts)
  --image-map FILE   what names of images mean, as for \`up\`: the suite's images as programs of this machine
  --report-dir DIR   where JUnit reports go (default: a temporary directory, removed at the end)
  --proxy-mode MODE  as for \`up\`
`;

const options = {
  suite: { type: 'string' },
  focus: { type: 'string', default: '\\[sig-network\\].*\\[Conformance\\]' },
  skip: { type: 'string' },
  nodes: { type: 'string', default: '2' },
  'image-map': { type: 'string' },
  'report-dir': { type: 'string' },
  'proxy-mode': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};
const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const problem = suiteProblem(values.suite);
if (problem !== undefined)
  endWithUsage(`${problem}: --suite PATH/e2e.test, from a release of Kubernetes.`);

await prepare();
const fairlead = join(root, 'bin', 'fairlead');
const directory = mkdtempSync(join(tmpdir(), 'fairlead-e2e-'));
const dataDir = join(directory, 'data');
const reportDir = resolve(values['report-dir'] ?? join(directory, 'report'));
mkdirSync(reportDir, { recursive: true });

const given = (flag, value) => (value === undefined ? [] : [flag, value]);
const up = spawn(
  process.execPath,
  [
    ...[fairlead, 'up', '--data-dir', dataDir, '--secure-port', '0', '--nodes', values.nodes],
    ...given('--image-map', values['image-map'] && resolve(values['image-map'])),
    ...given('--proxy-mode', values['proxy-mode']),
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const upEnded = once(up, 'exit');
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => up.kill('SIGTERM'));
let status = 1;
try {
  await ready();
  status = await runSuite();
} catch (error) {
  process.stderr.write(`error: ${error.message}\n`);
} finally {
  if (up.exitCode === null) up.kill('SIGTERM');
  await upEnded;
  rmSync(directory, { recursive: true, force: true });
}
process.exit(status);

/** Resolves when `up` has shown its screen, which it does once all nodes are at work. */
async function ready() {
  const shown = (async () => {
    for await (const chunk of up.stdout) {
      process.stdout.write(chunk);
      if (String(chunk).includes('Press Ctrl-C to stop it')) break;
    }
  })();
  await Promise.race([
    shown,
    upEnded.then(() => {
      throw new Error('up ended before it was ready');
    }),
  ]);
  up.stdout.resume();
}

async function runSuite() {
  const { outside } = JSON.parse(readFileSync(join(dataDir, 'up.json'), 'utf8'));
  if (outside === undefined) throw new Error('up has no network of its own here');
  // The suite's clients live beside the nodes: the server's address there, with an administrator's certificate.
  const kubeconfig = join(directory, 'kubeconfig');
  run(
    'kubeconfig',
    '--data-dir',
    dataDir,
    '--server',
    outside.server,
    '--user',
    'e2e',
    '--group',
    'system:masters',
    '--output',
    kubeconfig,
  );
  const args = [
    ...[fairlead, 'shell', '--data-dir', dataDir, '--outside', '--', resolve(values.suite)],
    ...['--kubeconfig', kubeconfig, '--provider', 'skeleton', '--report-dir', reportDir],
    ...['--ginkgo.focus', values.focus, ...given('--ginkgo.skip', values.skip)],
    ...['--num-nodes', values.nodes, '--disable-log-dump', ...positionals],
  ];
  const suite = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = await once(suite, 'exit');
  const files = readdirSync(reportDir).filter((name) => name.endsWith('.xml'));
  const specs = files.flatMap((name) => readReport(readFileSync(join(reportDir, name), 'utf8')));
  process.stdout.write(`\n${summarize(specs)}`);
  if (specs.length > 0) return code;
  process.stderr.write(
    'error: No spec ran: either --focus matches none, or the suite ended before its report.\n',
  );
  return 1;
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS_')) throw error;
    return endWithUsage(error.message);
  }
}

function suiteProblem(suite) {
  if (suite === undefined) return 'Name the suite';
  if (!existsSync(suite)) return `There is no file "${suite}"`;
  if (!statSync(suite).isFile()) return `"${suite}" is not a file`;
  try {
    accessSync(suite, constants.X_OK);
    return undefined;
  } catch {
    return `"${suite}" is not a program that may be run (chmod +x?)`;
  }
}

function endWithUsage(message) {
  process.stderr.write(`error: ${message}\n\n${usage}`);
  process.exit(2);
}

function run(...args) {
  const { status: code } = spawnSync(process.execPath, [fairlead, ...args], { stdio: 'inherit' });
  if (code !== 0) throw new Error(`fairlead ${args[0]} failed`);
}
