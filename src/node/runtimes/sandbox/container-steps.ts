// All that a container is, as the steps that make it: spec in, system calls out.
import type { Step } from './assemble.ts';
import { forkSteps } from './fork-steps.ts';
import type { Architecture } from './machine-code.ts';
import { swappedStep } from './mount-steps.ts';
import {
  type Privileges,
  type ProgramToRun,
  privilegeSteps,
  programSteps,
  writeSteps,
} from './privilege-steps.ts';
import { type ContainerRoot, rootSteps } from './root-steps.ts';

/** A namespace is new, the agent's, or that of a descriptor of the starter. */
export type NamespaceChoice = 'new' | 'host' | { readonly descriptor: number };

export type ContainerSpec = ProgramToRun & {
  readonly privileges: Privileges;
  readonly root: ContainerRoot;
  readonly pid: NamespaceChoice;
  readonly ipc: NamespaceChoice;
  readonly hostname?: string;
  /** Its standard input is a terminal, which becomes its own. */
  readonly hasTerminal: boolean;
  /** `cgroup.procs` of its control groups. */
  readonly groupFiles: readonly string[];
  /** The agent is no administrator: the container gets a user namespace, in which who the agent is becomes root. */
  readonly agent?: { readonly uid: number; readonly gid: number };
  /** Files of the kernel, and what is written to them: settings of the namespaces. */
  readonly settings: readonly { readonly path: string; readonly value: string }[];
  /** How many descriptors the starter was given. */
  readonly descriptors: number;
};

const newMounts = 0x20000;
const newNames = 0x4000000;
const newMessages = 0x8000000;
const newGroups = 0x2000000;
const newProcesses = 0x20000000;
const newUser = 0x10000000;
const firstGiven = 4;
const lastDescriptor = 0xffffffff;
/** TIOCSCTTY. */
const takeTerminal = 0x540e;

export function containerSteps(spec: ContainerSpec, architecture: Architecture): readonly Step[] {
  const { pid, ipc, hostname, agent, descriptors } = spec;
  const shared = [
    ...(ipc === 'new' ? [newMessages] : []),
    ...(hostname === undefined ? [] : [newNames]),
  ].reduce((all, flag) => all | flag, newMounts);
  return [
    closeStep(firstGiven + descriptors),
    ...groupSteps(spec.groupFiles),
    ...(agent === undefined ? [] : userSteps(agent)),
    ...joinSteps(pid, newProcesses, 'processes'),
    ...joinSteps(ipc, newMessages, 'messages').filter(() => ipc !== 'new'),
    ...forkSteps('outside'),
    ...terminalSteps(spec.hasTerminal),
    { call: 'unshare', args: [shared], what: 'make namespaces' },
    { call: 'unshare', args: [newGroups], onError: 'next' },
    ...(hostname === undefined
      ? []
      : [
          {
            call: 'sethostname',
            args: [hostname, Buffer.byteLength(hostname)],
            what: 'set the host name',
          } as const,
        ]),
    // While the files are there, and can be written.
    ...spec.settings.flatMap(({ path, value }) => writeSteps(path, value)),
    ...rootSteps(spec.root),
    closeStep(firstGiven),
    ...privilegeSteps(spec.privileges, architecture),
    // Among processes of others there is nobody to be the first.
    ...(pid === 'new' ? forkSteps('inside') : []),
    ...programSteps(spec),
    swappedStep,
  ];
}

/** Whoever started us may have left open what is not for containers. */
export const closeStep = (first: number): Step => ({
  call: 'close_range',
  args: [first, lastDescriptor, 0],
  onError: 'next',
});

/** Before anything else, so that all that follows is counted and limited. */
const groupSteps = (files: readonly string[]): readonly Step[] =>
  files.flatMap((file) => writeSteps(file, '0'));

function userSteps({ uid, gid }: { readonly uid: number; readonly gid: number }): readonly Step[] {
  return [
    { call: 'unshare', args: [newUser], what: 'make a user namespace' },
    ...writeSteps('/proc/self/setgroups', 'deny', 'first setgroups'),
    ...writeSteps('/proc/self/uid_map', `0 ${uid} 1`, 'first uid_map'),
    ...writeSteps('/proc/self/gid_map', `0 ${gid} 1`, 'first gid_map'),
  ];
}

function joinSteps(choice: NamespaceChoice, flag: number, what: string): readonly Step[] {
  if (choice === 'host') return [];
  if (choice === 'new')
    return [{ call: 'unshare', args: [flag], what: `make a namespace for ${what}` }];
  return [{ call: 'setns', args: [choice.descriptor, flag], what: `join the ${what}` }];
}

/** A session of its own, and the terminal with it. */
function terminalSteps(hasTerminal: boolean): readonly Step[] {
  return [
    { call: 'setsid', onError: 'next' },
    ...(hasTerminal
      ? [{ call: 'ioctl', args: [0, takeTerminal, 0], what: 'take the terminal' } as const]
      : []),
  ];
}

export type EnterSpec = ProgramToRun & {
  readonly privileges: Privileges;
  /** Namespaces, as descriptors of the starter in the order in which they are joined: before there is a process inside, and by it. */
  readonly outside: readonly number[];
  readonly inside: readonly number[];
  readonly hasTerminal: boolean;
  readonly groupFiles: readonly string[];
};

/** A program beside those of a container, with no more rights than theirs. */
export function enterSteps(spec: EnterSpec, architecture: Architecture): readonly Step[] {
  const { outside, inside } = spec;
  const join = (descriptor: number): Step => ({
    call: 'setns',
    args: [descriptor, 0],
    what: 'join the container',
  });
  return [
    closeStep(firstGiven + outside.length + inside.length),
    ...groupSteps(spec.groupFiles),
    ...outside.map(join),
    ...forkSteps('outside'),
    ...terminalSteps(spec.hasTerminal),
    ...inside.map(join),
    closeStep(firstGiven),
    ...privilegeSteps(spec.privileges, architecture, { isJoined: true }),
    ...programSteps(spec),
  ];
}
