// The steps that create a container: spec in, system calls out.
import type { Step } from './assemble.ts';
import { forkSteps } from './fork-steps.ts';
import { type ImageRoot, imageRootSteps } from './image-root-steps.ts';
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
import { type AgentUser, userSteps } from './user-steps.ts';

/** A new namespace, the agent's, or that of a descriptor of the starter. */
export type NamespaceChoice = 'new' | 'host' | { readonly descriptor: number };

export type ContainerSpec = ProgramToRun & {
  readonly privileges: Privileges;
  /** From the machine's files, or from an image. */
  readonly root: ContainerRoot | ImageRoot;
  readonly pid: NamespaceChoice;
  readonly ipc: NamespaceChoice;
  readonly hostname?: string;
  /** Standard input is a terminal, which becomes its controlling terminal. */
  readonly hasTerminal: boolean;
  /** `cgroup.procs` of its control groups. */
  readonly groupFiles: readonly string[];
  /** Without root: the container gets a user namespace, in which the agent's user is root. */
  readonly agent?: AgentUser;
  /** Sysctls of the namespaces: files and values. */
  readonly settings: readonly { readonly path: string; readonly value: string }[];
  /** Number of descriptors passed to the starter. */
  readonly descriptors: number;
};

const newMountNamespace = 0x20000;
const newUtsNamespace = 0x4000000;
const newIpcNamespace = 0x8000000;
const newCgroupNamespace = 0x2000000;
const newPidNamespace = 0x20000000;
const firstPassedDescriptor = 4;
const lastDescriptor = 0xffffffff;
/** TIOCSCTTY. */
const takeTerminal = 0x540e;

export function containerSteps(spec: ContainerSpec, architecture: Architecture): readonly Step[] {
  const { pid, ipc, hostname, agent, descriptors } = spec;
  const shared = [
    ...(ipc === 'new' ? [newIpcNamespace] : []),
    ...(hostname === undefined ? [] : [newUtsNamespace]),
  ].reduce((all, flag) => all | flag, newMountNamespace);
  return [
    closeStep(firstPassedDescriptor + descriptors),
    ...groupSteps(spec.groupFiles),
    ...(agent === undefined ? [] : userSteps(agent)),
    ...joinSteps(pid, newPidNamespace, 'processes'),
    ...joinSteps(ipc, newIpcNamespace, 'messages').filter(() => ipc !== 'new'),
    ...forkSteps('outside'),
    ...terminalSteps(spec.hasTerminal),
    { call: 'unshare', args: [shared], what: 'make namespaces' },
    { call: 'unshare', args: [newCgroupNamespace], onError: 'next' },
    ...(hostname === undefined
      ? []
      : [
          {
            call: 'sethostname',
            args: [hostname, Buffer.byteLength(hostname)],
            what: 'set the host name',
          } as const,
        ]),
    // Before /proc is replaced and made read-only.
    ...spec.settings.flatMap(({ path, value }) => writeSteps(path, value)),
    ...('files' in spec.root ? imageRootSteps(spec.root) : rootSteps(spec.root)),
    closeStep(firstPassedDescriptor),
    ...privilegeSteps(spec.privileges, architecture),
    // An init process only in a new PID namespace.
    ...(pid === 'new' ? forkSteps('inside') : []),
    ...programSteps(spec),
    swappedStep,
  ];
}

/** Closes inherited descriptors that are not for the container. */
export const closeStep = (first: number): Step => ({
  call: 'close_range',
  args: [first, lastDescriptor, 0],
  onError: 'next',
});

/** First, so that everything that follows is limited. */
const groupSteps = (files: readonly string[]): readonly Step[] =>
  files.flatMap((file) => writeSteps(file, '0'));

function joinSteps(choice: NamespaceChoice, flag: number, what: string): readonly Step[] {
  if (choice === 'host') return [];
  if (choice === 'new')
    return [{ call: 'unshare', args: [flag], what: `make a namespace for ${what}` }];
  return [{ call: 'setns', args: [choice.descriptor, flag], what: `join the ${what}` }];
}

/** A new session with its controlling terminal. */
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
  /** Descriptors of namespaces, in the order in which they are joined: by the process outside, then by the program. */
  readonly outside: readonly number[];
  readonly inside: readonly number[];
  readonly hasTerminal: boolean;
  readonly groupFiles: readonly string[];
};

/** The steps that start a program in a running container, with its privileges. */
export function enterSteps(spec: EnterSpec, architecture: Architecture): readonly Step[] {
  const { outside, inside } = spec;
  const join = (descriptor: number): Step => ({
    call: 'setns',
    args: [descriptor, 0],
    what: 'join the container',
  });
  return [
    closeStep(firstPassedDescriptor + outside.length + inside.length),
    ...groupSteps(spec.groupFiles),
    ...outside.map(join),
    ...forkSteps('outside'),
    ...terminalSteps(spec.hasTerminal),
    ...inside.map(join),
    closeStep(firstPassedDescriptor),
    ...privilegeSteps(spec.privileges, architecture, { isJoined: true }),
    ...programSteps(spec),
  ];
}
