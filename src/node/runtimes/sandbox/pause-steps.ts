// A process that does nothing but be the first of a namespace of processes.
import type { Step } from './assemble.ts';
import { closeStep } from './container-steps.ts';
import { forkSteps } from './fork-steps.ts';
import type { Architecture } from './machine-code.ts';
import { newMount, pivotSteps, privateSteps } from './mount-steps.ts';
import { privilegeSteps } from './privilege-steps.ts';

const newProcesses = 0x20000000;
const newMounts = 0x20000;
/** PR_SET_DUMPABLE: at zero, nobody without CAP_SYS_PTRACE traces it or looks through its /proc. */
const setTraceable = 4;
/** A directory that every machine has. */
const anyDirectory = '/proc';
const firstGiven = 4;
const reportDescriptor = 3;
const setMask = 2;
const signalSetBytes = 8;
const everySignal = Buffer.alloc(signalSetBytes, 0xff);
const anyChild = 0;
const exitedWithoutHanging = 4 | 1;

/**
 * It takes in what others leave, until it is killed. The containers of its pod see it, and what is seen of a process leads to its root:
 * its own is empty.
 */
export function pauseSteps(architecture: Architecture): readonly Step[] {
  return [
    closeStep(firstGiven),
    { call: 'unshare', args: [newProcesses], what: 'make a namespace for processes' },
    ...forkSteps('outside'),
    { call: 'unshare', args: [newMounts], what: 'make a namespace for mounts' },
    ...privateSteps,
    newMount('tmpfs', anyDirectory, { isReadOnly: true }, 'mode=755,size=4k'),
    ...pivotSteps(anyDirectory),
    ...privilegeSteps(
      {
        identity: { uid: 0, gid: 0, groups: [] },
        capabilities: new Set(),
        hasNoNewPrivileges: true,
        seccomp: 'default',
        isOnlyUser: true,
      },
      architecture,
    ),
    { call: 'prctl', args: [setTraceable, 0, 0, 0, 0], what: 'hide the process' },
    { call: 'rt_sigprocmask', args: [setMask, everySignal, 0, signalSetBytes] },
    { call: 'close', args: [reportDescriptor] },
    {
      label: 'rest',
      call: 'rt_sigtimedwait',
      args: [everySignal, 0, 0, signalSetBytes],
      onError: 'rest',
    },
    {
      label: 'take in',
      call: 'waitid',
      args: [anyChild, 0, { cell: 'ended' }, exitedWithoutHanging, 0],
      onError: 'rest',
    },
    // Nobody was there: waitid() says so by leaving the process at zero, which was set before.
    {
      call: 'subtract',
      args: [{ cell: 'ended', offset: 16 }, { cell: 'zero' }],
      onZero: 'rest',
      onError: 'rest',
    },
    {
      call: 'subtract',
      args: [{ cell: 'zero' }, { cell: 'zero' }],
      result: { cell: 'ended', offset: 16 },
      onZero: 'take in',
    },
  ];
}
