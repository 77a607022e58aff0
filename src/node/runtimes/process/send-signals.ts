// Signals processes, groups and sessions.
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { sessionOf } from './read-process.ts';

type Signal = NodeJS.Signals | number;

export function signalGroup(pid: number, name: Signal): void {
  if (pid > 1) signal(-pid, name);
}

/** A shell in a terminal puts each job into a process group of its own, but in the same session. The leader must not be reaped yet. */
export function killSession(leader: number): void {
  if (leader <= 1) return;
  signalGroup(leader, 'SIGKILL');
  killWith((pid) => sessionOf(pid) === leader);
}

/** Does nothing after its termination: the process id may be reused. */
export function signalProcess(child: ChildProcess, name: Signal): void {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
    signal(child.pid, name);
}

function killWith(isMeant: (pid: number) => boolean): void {
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (pid > 1 && pid !== process.pid && isMeant(pid)) signal(pid, 'SIGKILL');
  }
}

function signal(pid: number, name: Signal): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
