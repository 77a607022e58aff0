// Forks, with a parent that waits: the process outside of a container, which the agent sees, and the init process inside, which reaps orphans.
import type { Argument, Step } from './assemble.ts';

const blockOrSetAll = 2;
const signalSetBytes = 8;
const everySignal = Buffer.alloc(signalSetBytes, 0xff);
const noSignal = Buffer.alloc(signalSetBytes);
const childEnded = 17;
// Of siginfo: code, and for the end of a child its process and status.
const codeOffset = 8;
const pidOffset = 16;
const statusOffset = 24;
const setName = 15;
/** Name in process lists. */
export const starterName = 'fairlead-init';
const endedByExit = 1;
const firstDescriptorOfStart = 3;
const lastDescriptor = 0xffffffff;
// For waitid().
const anyChild = 0;
const exitedWithoutHanging = 4 | 1;

/**
 * Forks a child that continues with the following steps. The parent forwards signals (those of a terminal reach the child anyway), reaps
 * orphans, and exits with the child's code, or with 128 plus its signal.
 */
export function forkSteps(name: string): readonly Step[] {
  const at = (point: string): string => `${name} ${point}`;
  const child: Argument = { cell: at('child') };
  return [
    // Blocked before the fork, so that the end of the child is not missed.
    { call: 'rt_sigprocmask', args: [blockOrSetAll, everySignal, 0, signalSetBytes] },
    {
      call: 'clone',
      args: [childEnded],
      result: child,
      onZero: at('inside'),
      what: 'start a process',
    },
    { call: 'close_range', args: [firstDescriptorOfStart, lastDescriptor, 0], onError: 'next' },
    { call: 'prctl', args: [setName, starterName], onError: 'next' },
    { call: 'subtract', args: [child, zero], result: { argumentOf: at('pass on'), index: 0 } },
    ...waitSteps(at),
    ...reapSteps(at, child),
    {
      label: at('inside'),
      call: 'rt_sigprocmask',
      args: [blockOrSetAll, noSignal, 0, signalSetBytes],
    },
  ];
}

const zero: Argument = { cell: 'zero' };
const number = (value: number): Argument => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

type LabelOf = (name: string) => string;

function waitSteps(at: LabelOf): readonly Step[] {
  const signal: Argument = { cell: at('signal') };
  const info = (offset: number): Argument => ({ cell: at('info'), offset });
  const wait = at('wait');
  return [
    {
      label: wait,
      call: 'rt_sigtimedwait',
      args: [everySignal, info(0), 0, signalSetBytes],
      result: signal,
      onError: wait,
    },
    { call: 'subtract', args: [signal, number(childEnded)], onZero: at('reap'), onError: 'next' },
    // Forwards signals sent by processes, not by a terminal.
    {
      call: 'subtract',
      args: [info(codeOffset), zero],
      onZero: at('copy'),
      onPositive: wait,
      onError: wait,
    },
    {
      label: at('copy'),
      call: 'subtract',
      args: [signal, zero],
      result: { argumentOf: at('pass on'), index: 1 },
    },
    { label: at('pass on'), call: 'kill', args: [0, 0], onZero: wait, onError: wait },
  ];
}

function reapSteps(at: LabelOf, child: Argument): readonly Step[] {
  const ended = (offset: number): Argument => ({ cell: at('ended'), offset });
  const [wait, reap, exit] = [at('wait'), at('reap'), at('exit')];
  const code: Argument = { argumentOf: exit, index: 0 };
  return [
    { label: reap, call: 'subtract', args: [zero, zero], result: ended(pidOffset) },
    { call: 'waitid', args: [anyChild, 0, ended(0), exitedWithoutHanging, 0], onError: wait },
    { call: 'subtract', args: [ended(pidOffset), zero], onZero: wait },
    {
      call: 'subtract',
      args: [ended(pidOffset), child],
      onZero: at('over'),
      onPositive: reap,
      onError: reap,
    },
    {
      label: at('over'),
      call: 'subtract',
      args: [ended(codeOffset), number(endedByExit)],
      onZero: at('exited'),
    },
    {
      call: 'subtract',
      args: [ended(statusOffset), zero, 128],
      result: code,
      onPositive: exit,
    },
    { label: at('exited'), call: 'subtract', args: [ended(statusOffset), zero], result: code },
    { label: exit, call: 'exit_group', args: [0] },
  ];
}
