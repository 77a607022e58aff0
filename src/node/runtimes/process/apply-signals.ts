// Signals to more than one process.
import { readdirSync } from 'node:fs';
import { mountsOf, sessionOf } from './probe-process.ts';

export function signalGroup(pid: number, name: NodeJS.Signals): void {
  if (pid > 1) signal(-pid, name);
}

/** A shell in a terminal gives each job a group of its own; the session has them all. The leader must not be reaped yet. */
export function killSession(leader: number): void {
  if (leader <= 1) return;
  signalGroup(leader, 'SIGKILL');
  killWith((pid) => sessionOf(pid) === leader);
}

/** All that see these mounts; never those who see what this process sees, which would be the whole machine. */
export function killWithMounts(mounts: string): void {
  if (mounts === mountsOf(process.pid)) return;
  killWith((pid) => mountsOf(pid) === mounts);
}

function killWith(isMeant: (pid: number) => boolean): void {
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (pid > 1 && pid !== process.pid && isMeant(pid)) signal(pid, 'SIGKILL');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
