// The launcher of `fairlead up` with an isolated network: a small process that starts the real one inside namespaces and waits for it. It
// is a bundle file of its own and imports almost nothing, so that the program is loaded only once, inside.
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

/** Why namespaces could not be created: what the machine does not permit. */
export const refusedVariable = 'FAIRLEAD_REFUSED';

/** The flags of unshare: as root, or in a new user namespace, which any user may create. */
const rootFlags = [
  ...['--mount', '--propagation', 'private'],
  ...['--pid', '--fork', '--kill-child', '--mount-proc'],
];
const userFlags = ['--user', '--map-root-user', ...rootFlags];
/** With the subordinate IDs of the user beside it, so that images have all their users: needs newuidmap, and entries in /etc/subuid and /etc/subgid. */
const manyUsersFlags = ['--user', '--map-root-user', '--map-auto', ...rootFlags];

/**
 * PID 1 of the namespace must reap orphans, which Node does not do for processes that it has not started. When the program exits, so does
 * PID 1, and with it every other process inside.
 */
const firstProcess = '"$@" & wait "$!"';

/** Runs `up` inside namespaces if the arguments request it; false when the caller must run the command itself. */
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

/** True for `up`, unless with --help or another network mode. */
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
  const choices = [...(isRoot ? [rootFlags] : []), manyUsersFlags, userFlags];
  for (const flags of choices) {
    const { status, error, stderr } = spawnSync('unshare', [...flags, '--net', 'true'], {
      encoding: 'utf8',
    });
    if (status === 0) return { flags };
    // Most users have no subordinate IDs.
    if (flags === manyUsersFlags) continue;
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
  // Killed with this process, whatever ends it. Without setpriv, the closed descriptor notifies the program.
  const argv = hasSetpriv() ? ['setpriv', '--pdeathsig', 'KILL', '--', ...inside] : inside;
  const [command = '', ...args] = argv;
  const { [starterVariable]: starter, ...env } = process.env;
  const child = spawn(command, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...env, [launcherVariable]: String(process.pid) },
    // Ctrl-C reaches all processes of a session: in its own session the program receives it once, from us.
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
