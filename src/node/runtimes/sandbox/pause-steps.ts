// The pause process: init of a PID namespace, which only reaps orphans.
import type { Step } from './assemble.ts';
import { closeStep } from './container-steps.ts';
import { forkSteps } from './fork-steps.ts';
import type { Architecture } from './machine-code.ts';
import { newMount, pivotSteps, privateSteps } from './mount-steps.ts';
import { privilegeSteps } from './privilege-steps.ts';

const newPidNamespace = 0x20000000;
const newMountNamespace = 0x20000;
/** PR_SET_DUMPABLE: at zero, tracing it or reading its /proc needs CAP_SYS_PTRACE. */
const setTraceable = 4;
/** Exists on every machine. */
const anyDirectory = '/proc';
const firstPassedDescriptor = 4;
const reportDescriptor = 3;
const setMask = 2;
const signalSetBytes = 8;
const everySignal = Buffer.alloc(signalSetBytes, 0xff);
const anyChild = 0;
const exitedWithoutHanging = 4 | 1;

/**
 * It runs until it is killed. The containers of its pod see it, and /proc/PID/root leads to its root file system, which is
 * therefore empty.
 */
export function pauseSteps(architecture: Architecture): readonly Step[] {
  return [
    closeStep(firstPassedDescriptor),
    { call: 'unshare', args: [newPidNamespace], what: 'make a namespace for processes' },
    ...forkSteps('outside'),
    { call: 'unshare', args: [newMountNamespace], what: 'make a namespace for mounts' },
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
    // No child has exited: waitid() leaves the process id at zero, as it was set before.
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
