// Runs the real binary's `up` with a network, as root or as an ordinary user, and looks at what it leaves behind.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UpState } from '../../src/flags/state-file.ts';
import { type Traces, tracesOf } from '../lanes/process-traces.ts';
import { ready, root } from '../lanes/running-server.ts';
import { unpackKubectl } from '../lanes/unpack-kubectl.ts';

const run = promisify(execFile);

export type Identity = 'root' | 'an ordinary user' | 'an ordinary user with subordinate IDs';

export type Up = {
  readonly directory: string;
  readonly process: ChildProcess;
  readonly state: () => UpState;
  /** Its text; rejects when it fails. */
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
  readonly fairlead: (...args: readonly string[]) => Promise<string>;
  /** The same, while it runs. */
  readonly spawnFairlead: (...args: readonly string[]) => ChildProcess;
  /** Everything that runs below it, with the namespaces that they have. */
  readonly traces: () => Traces;
};

const unprivilegedUid = 65534;

/** A directory of its own, where `up` keeps its data. */
export function makeDirectory(identity: Identity): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-up-'));
  if (identity !== 'root') chownSync(directory, unprivilegedUid, unprivilegedUid);
  return directory;
}

const subordinate: Identity = 'an ordinary user with subordinate IDs';
/** Only in the mount namespace of the run; the machine's own files may have none for this user. */
const giveIds = `echo ${unprivilegedUid}:700000:65536 > ids && for file in subuid subgid; do touch /etc/$file && mount --bind ids /etc/$file; done`;

/** Why the machine cannot have users with subordinate IDs. */
export function subordinateMissing(): string | false {
  const { status } = spawnSync('sh', ['-c', 'command -v newuidmap && command -v newgidmap']);
  return status === 0 ? false : 'newuidmap is not installed (Debian: uidmap)';
}

/** An ordinary user may not be able to read where the tree lies: it is mounted into the directory of the run. */
function command(
  identity: Identity,
  directory: string,
  args: readonly string[],
): readonly string[] {
  const program = [process.execPath, join(root, 'bin', 'fairlead'), ...args];
  if (identity === 'root') return program;
  const mounted = [process.execPath, join(directory, 'tree', 'bin', 'fairlead'), ...args];
  const tree = 'mkdir -p tree && mount --bind "$0" tree';
  const script = `${tree} && ${identity === subordinate ? giveIds : ':'} && exec "$@"`;
  const become = [
    'setpriv',
    `--reuid=${unprivilegedUid}`,
    `--regid=${unprivilegedUid}`,
    '--clear-groups',
    '--',
  ];
  return ['unshare', '--mount', 'sh', '-c', script, root, ...become, ...mounted];
}

export async function startUp(
  identity: Identity,
  directory: string,
  flags: readonly string[],
): Promise<Up> {
  const kubectlPath = await unpackKubectl();
  const env = { ...process.env, HOME: directory };
  const [program = '', ...args] = command(identity, directory, [
    ...['up', '--secure-port', '0', '--log-level', 'warn', ...flags],
  ]);
  const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(child);
  const kubeconfig = join(directory, '.fairlead', 'kubeconfig');
  const shellEnv = { ...env, KUBECONFIG: kubeconfig };
  return {
    directory,
    process: child,
    state: () => JSON.parse(readFileSync(join(directory, '.fairlead', 'up.json'), 'utf8')),
    async kubectl(...words) {
      const { stdout } = await run(kubectlPath, words, { cwd: root, env: shellEnv });
      return stdout;
    },
    async fairlead(...words) {
      const [file = '', ...rest] = command(identity, directory, words);
      const { stdout } = await run(file, rest, { cwd: directory, env: shellEnv });
      return stdout;
    },
    spawnFairlead(...words) {
      const [file = '', ...rest] = command(identity, directory, words);
      const stdio = ['ignore', 'pipe', 'inherit'] as const;
      return spawn(file, rest, { cwd: directory, env: shellEnv, stdio: [...stdio] });
    },
    traces: () => tracesOf(child.pid ?? 0),
  };
}

/** The exit code, or the signal that ended it. */
export async function endWith(up: Up, signal: NodeJS.Signals): Promise<number | string | null> {
  const exited = once(up.process, 'exit');
  // The state names the process that people would end; the child may be what became it.
  process.kill(up.state().pid, signal);
  const [code, name] = await exited;
  return code ?? name;
}

/** What the machine's own network looks like: links, rules, named namespaces. */
export async function machineNetwork(): Promise<string> {
  const { stdout: links } = await run('ip', ['-o', 'link']);
  const { stdout: tables } = await run('nft', ['list', 'tables']);
  const { stdout: names } = await run('ip', ['netns', 'list']);
  return [links, tables, names].join('\n');
}

/** A busy machine is slow; only an answer that never comes has failed. */
const maxAnswerMs = 30_000;

/** The body of an answer over a connection of its own. */
export function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host, port, agent: false, timeout: maxAnswerMs }, async (response) => {
      try {
        let text = '';
        for await (const part of response) text += String(part);
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${response.statusCode}: ${text}`));
      } catch (error) {
        reject(error);
      }
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', reject);
  });
}

/** Waits for the condition; the test's own limit bounds it. */
export async function until<T>(check: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
