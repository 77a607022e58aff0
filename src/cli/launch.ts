// What stands before `fairlead up` with a network of its own: a small process that starts the real one inside namespaces and waits for it.
// It is a bundle file of its own and loads next to nothing of ours, so that the program itself is loaded once, inside.
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { launcherVariable } from '../up/visible-pid.ts';
import {
  controlDescriptor,
  endWord,
  followControl,
  followSignals,
  readTerminal,
  starterVariable,
} from './end-requests.ts';

/** Why there is no launcher: what the machine does not permit. */
export const refusedVariable = 'FAIRLEAD_REFUSED';

/** How new namespaces are made: as root, or as root of a user namespace that any user may make. */
const rootFlags = [
  ...['--mount', '--propagation', 'private'],
  ...['--pid', '--fork', '--kill-child', '--mount-proc'],
];
const userFlags = ['--user', '--map-root-user', ...rootFlags];

/**
 * The first process of the namespace takes in what its parents left behind, which Node does not do for strangers. When the program ends,
 * so does this one, and with it everything else inside.
 */
const firstProcess = '"$@" & wait "$!"';

/** Runs `up` inside namespaces where the arguments ask for that; false when the caller has to go on itself. */
export async function launch(argv: readonly string[]): Promise<boolean> {
  if (process.env[launcherVariable] !== undefined || !wantsNamespaces(argv)) return false;
  const way = findWay();
  if ('refused' in way) {
    process.env[refusedVariable] = way.refused;
    return false;
  }
  process.exitCode = await runInside(way.flags);
  return true;
}

/** `up`, unless it is only asked about or another network is wanted. */
export function wantsNamespaces(argv: readonly string[]): boolean {
  const [command, ...flags] = argv;
  if (command !== 'up' || flags.some((flag) => flag === '--help' || flag === '-h')) return false;
  const at = flags.findLastIndex((flag) => /^--network(=|$)/.test(flag));
  const given = flags[at]?.includes('=') ? flags[at]?.split('=')[1] : flags[at + 1];
  return at < 0 || given === 'isolated';
}

type Way = { readonly flags: readonly string[] } | { readonly refused: string };

function findWay(): Way {
  if (process.platform !== 'linux') return { refused: `${process.platform} has no namespaces` };
  const isRoot = process.getuid?.() === 0;
  let refused = '';
  for (const flags of isRoot ? [rootFlags, userFlags] : [userFlags]) {
    const { status, error, stderr } = spawnSync('unshare', [...flags, '--net', 'true'], {
      encoding: 'utf8',
    });
    if (status === 0) return { flags };
    refused ||=
      error === undefined
        ? stderr.trim().split('\n').join('; ')
        : `the program unshare is missing (package util-linux)`;
  }
  return { refused };
}

async function runInside(flags: readonly string[]): Promise<number> {
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const inside = ['unshare', ...flags, '--', 'sh', '-c', firstProcess, 'sh', ...program];
  // Killed with this process, whatever ends it; the descriptor tells the same to the program where setpriv is missing.
  const argv = hasSetpriv() ? ['setpriv', '--pdeathsig', 'KILL', '--', ...inside] : inside;
  const [command = '', ...args] = argv;
  const { [starterVariable]: starter, ...env } = process.env;
  const child = spawn(command, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...env, [launcherVariable]: String(process.pid) },
    // Ctrl-C of a terminal reaches all of a session: it must reach the program once, by us.
    detached: true,
  });
  const control = child.stdio[controlDescriptor];
  control?.on('error', () => {});
  const requests = {
    end: () => {
      if (control !== null && control !== undefined && 'write' in control) {
        control.write(`${endWord}\n`);
      }
    },
    kill: () => void child.kill('SIGKILL'),
  };
  followSignals(requests, readTerminal());
  if (starter !== undefined) followControl(requests);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}

const hasSetpriv = (): boolean =>
  spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0;
