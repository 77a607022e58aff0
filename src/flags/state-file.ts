// The state of a running `up`, a file in its data directory, for `status`, `down` and `shell`.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PullState } from '../node/images/run-pulls.ts';
import type { RelayState } from '../relay/run.ts';
import { FailedError } from './command.ts';

export const networkModes = ['isolated', 'host', 'none'] as const;
export type NetworkMode = (typeof networkModes)[number];

export type UpState = {
  /** The process to send signals to. */
  readonly pid: number;
  /** The program itself, inside its namespaces if it has any. */
  readonly innerPid: number;
  readonly version: string;
  readonly startedAt: number;
  readonly network: NetworkMode;
  /** Describes the network, or why there is none. */
  readonly networkText: string;
  readonly url: string;
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly nodes: readonly NodeState[];
  /** The network of the nodes; absent: the nodes use the network of the machine. */
  readonly outside?: {
    readonly namespacePath: string;
    /** URL of the API server. */
    readonly server: string;
  };
  /** The DNS server of pods. */
  readonly dns: readonly string[];
  readonly domain: string;
  readonly relays: readonly RelayState[];
  /** Images that are being pulled. */
  readonly pulls?: readonly PullState[];
};

export type NodeState = {
  readonly name: string;
  readonly addresses: readonly string[];
  /** The proxy mode. */
  readonly proxy: string;
  /** The path of its network namespace, as the program sees it; absent: that of the machine. */
  readonly namespacePath?: string;
  readonly dataDirectory: string;
};

const fileName = 'up.json';

/** Written atomically: another process may be reading. */
export function writeState(state: UpState): void {
  const path = join(state.dataDir, fileName);
  // A file that a killed process left may have another mode, or be a link.
  rmSync(`${path}.new`, { force: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(`${path}.new`, path);
}

export function removeState(dataDir: string): void {
  rmSync(join(dataDir, fileName), { force: true });
}

/** Undefined when there is no state, or its program has exited. */
export function readRunning(dataDir: string): UpState | undefined {
  const text = readOwn(join(dataDir, fileName));
  if (text === undefined) return undefined;
  const state = JSON.parse(text) as UpState;
  return isOwnProcess(state.pid) ? state : undefined;
}

/** The maximum size; a state has a few kilobytes. */
const maxStateBytes = 4 * 1024 * 1024;
const writtenByOthers = 0o022;

/**
 * What it says is done with the rights of who asks: signals are sent, namespaces entered, files written. So it must be their own, or
 * root's: the directory is the current one, where another user may have put it.
 */
function readOwn(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const stat = fstatSync(descriptor);
    if (stat.uid !== 0 && stat.uid !== process.geteuid?.())
      throw new FailedError(
        `Cannot use "${path}": it belongs to another user (${stat.uid}). Run this as that user.`,
      );
    if (!stat.isFile() || stat.size > maxStateBytes || (stat.mode & writtenByOthers) !== 0)
      throw new FailedError(`Cannot use "${path}": \`fairlead up\` did not write it like this.`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Process IDs are reused: the process must have been started as `up`. */
export function isOwnProcess(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('up');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
