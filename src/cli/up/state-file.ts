// What a running `up` writes down in its data directory, for `status`, `down` and `shell`.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RelayState } from '../../relay/run.ts';
import type { NetworkMode } from './up-flags.ts';

export type UpState = {
  /** The process to send signals to. */
  readonly pid: number;
  /** Of the program itself, inside its namespaces where it has some. */
  readonly innerPid: number;
  readonly version: string;
  readonly startedAt: number;
  readonly network: NetworkMode;
  /** What the network is, or why there is none. */
  readonly networkText: string;
  readonly url: string;
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly nodes: readonly NodeState[];
  /** What pods ask for names. */
  readonly dns: readonly string[];
  readonly domain: string;
  readonly relays: readonly RelayState[];
};

export type NodeState = {
  readonly name: string;
  readonly addresses: readonly string[];
  /** How its proxy works. */
  readonly proxy: string;
  /** Its network namespace, as the program itself sees it; absent: that of the machine. */
  readonly namespacePath?: string;
  readonly dataDirectory: string;
};

const fileName = 'up.json';

/** Whole or not at all: somebody may be reading. */
export function writeState(state: UpState): void {
  const path = join(state.dataDir, fileName);
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeState(dataDir: string): void {
  rmSync(join(dataDir, fileName), { force: true });
}

/** Undefined where none was written, or its program ended. */
export function readRunning(dataDir: string): UpState | undefined {
  let text: string;
  try {
    text = readFileSync(join(dataDir, fileName), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const state = JSON.parse(text) as UpState;
  return isOurs(state.pid) ? state : undefined;
}

/** Process ids come back: what has this one now must have been started as `up`. */
export function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('up');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
