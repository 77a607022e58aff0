// The last steps before a program of a container starts, for its first process and for entered ones: identity, privileges, working
// directory, and the program.
import { reportDescriptor, type Step } from './assemble.ts';
import { type CapabilityName, capabilityMask } from './capabilities.ts';
import type { Architecture } from './machine-code.ts';
import { seccompFilter } from './seccomp-filter.ts';

export type Identity = {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
};

export type Privileges = {
  readonly identity: Identity;
  /** The bounding set. */
  readonly capabilities: ReadonlySet<CapabilityName>;
  /** no_new_privs: programs never gain privileges. */
  readonly hasNoNewPrivileges: boolean;
  readonly seccomp: 'default' | 'none';
  /**
   * Absent: the agent may switch to any user. Otherwise only one user is mapped, and another uid is simulated by a user namespace in
   * which it maps to that user.
   */
  readonly isOnlyUser?: boolean;
  /** Calls that change owners and users succeed without effect: where there is one user, images with several could not run. */
  readonly ignoresOwners?: boolean;
};

export type ProgramToRun = {
  readonly argv: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** RLIMIT_NPROC of its user; absent: the agent's. */
  readonly maxProcesses?: number;
};

// Numbers of prctl().
const setDeathSignal = 1;
const dropFromBounding = 24;
const setNoNewPrivileges = 38;
const changeAmbient = 47;
const clearAmbient = 4;
const kill = 9;

const newUserNamespace = 0x10000000;
const seccompFilterMode = 1;
const capabilityVersion = 0x20080522;
const lastCapability = 63;

/** `isJoined`: the user namespace for the uid has been joined already. */
export function privilegeSteps(
  privileges: Privileges,
  architecture: Architecture,
  { isJoined = false }: { readonly isJoined?: boolean } = {},
): readonly Step[] {
  const { capabilities, hasNoNewPrivileges, seccomp } = privileges;
  const filter = seccomp === 'none' ? [] : filterSteps(architecture, privileges);
  const mask = capabilityMask(capabilities);
  const dropped = Array.from({ length: lastCapability + 1 }, (_, number) => number).filter(
    (number) => ((mask >> BigInt(number)) & 1n) === 0n,
  );
  return [
    { call: 'umask', args: [0o022] },
    ...(isJoined && privileges.isOnlyUser === true ? [] : identitySteps(privileges)),
    ...dropped.map(
      // Ignores numbers that the kernel does not know.
      (number): Step => ({ call: 'prctl', args: [dropFromBounding, number], onError: 'next' }),
    ),
    { call: 'prctl', args: [changeAmbient, clearAmbient, 0, 0, 0], onError: 'next' },
    ...(hasNoNewPrivileges
      ? [{ call: 'prctl', args: [setNoNewPrivileges, 1, 0, 0, 0], what: 'no_new_privs' } as const]
      : // Without them only an administrator sets a filter: as long as we are one.
        filter),
    ...userSteps(privileges),
    ...capabilitySteps(privileges, mask),
    ...(hasNoNewPrivileges ? filter : []),
    // Last, because changes of the identity reset it.
    { call: 'prctl', args: [setDeathSignal, kill, 0, 0, 0] },
  ];
}

/** Groups are set before the privilege is dropped. */
function identitySteps({ identity, isOnlyUser = false }: Privileges): readonly Step[] {
  const { uid, gid, groups } = identity;
  if (!isOnlyUser) {
    const list = Buffer.alloc(groups.length * 4);
    for (const [index, group] of groups.entries()) list.writeUInt32LE(group, index * 4);
    return [
      { call: 'setgroups', args: [groups.length, list], what: `set groups ${groups.join(', ')}` },
    ];
  }
  if (uid === 0 && gid === 0) return [];
  return [
    { call: 'unshare', args: [newUserNamespace], what: `become user ${uid}` },
    ...writeSteps('/proc/self/setgroups', 'deny'),
    ...writeSteps('/proc/self/uid_map', `${uid} 0 1`),
    ...writeSteps('/proc/self/gid_map', `${gid} 0 1`),
  ];
}

function userSteps({ identity: { uid, gid } }: Privileges): readonly Step[] {
  return [
    { call: 'setresgid', args: [gid, gid, gid], what: `become group ${gid}` },
    { call: 'setresuid', args: [uid, uid, uid], what: `become user ${uid}` },
  ];
}

/** Users other than root have lost their capabilities by now. */
function capabilitySteps({ identity }: Privileges, mask: bigint): readonly Step[] {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(capabilityVersion);
  const held = identity.uid === 0 ? mask : 0n;
  const low = Number(held & 0xffffffffn);
  const high = Number(held >> 32n);
  // Effective, permitted, inheritable; the lower halves first.
  const sets = Buffer.alloc(24);
  for (const [index, word] of [low, low, 0, high, high, 0].entries())
    sets.writeUInt32LE(word, index * 4);
  return [{ call: 'capset', args: [header, sets], what: 'drop capabilities' }];
}

function filterSteps(
  architecture: Architecture,
  { capabilities, ignoresOwners = false }: Privileges,
): readonly Step[] {
  const filter = seccompFilter(architecture, capabilities, { hasOneOwner: ignoresOwners });
  const count = Buffer.alloc(8);
  count.writeUInt16LE(filter.length / 8);
  // struct sock_fprog: length and pointer; the terminating zero of the list is not used.
  const program = { list: [count.readBigUInt64LE(), filter] };
  return [{ call: 'seccomp', args: [seccompFilterMode, 0, program], what: 'filter system calls' }];
}

const currentDirectory = -100;
const writeOnly = 0x80001;

/** The descriptor is closed when the program starts. `name` is unique among the steps. */
export function writeSteps(path: string, text: string, name = path): readonly Step[] {
  return [
    {
      call: 'openat',
      args: [currentDirectory, path, writeOnly, 0],
      result: { argumentOf: name, index: 0 },
      what: `open ${path}`,
    },
    {
      label: name,
      call: 'write',
      args: [0, text, Buffer.byteLength(text)],
      what: `write to ${path}`,
    },
  ];
}

const setDescriptorFlags = 2;
const closeOnExec = 1;

/** The program is in no directory of PATH. */
export const missingProgram = 'find the program';

/** Searches PATH inside the container, as a shell does. */
export function programSteps({
  argv,
  variables,
  workingDir,
  maxProcesses,
}: ProgramToRun): readonly Step[] {
  const [program] = argv;
  const list = { list: Object.entries(variables).map(([name, value]) => `${name}=${value}`) };
  const run = (path: string): Step => ({
    call: 'execve',
    args: [path, { list: argv }, list],
    onError: 'next',
  });
  const paths = (variables.PATH ?? '').split(':').filter((path) => path.startsWith('/'));
  const candidates = program.includes('/') ? [] : paths.map((path) => run(`${path}/${program}`));
  const last: Step = program.includes('/')
    ? { ...run(program), what: `run ${program}` }
    : { ...run(`${paths.at(-1) ?? ''}/${program}`), what: missingProgram };
  const { onError: _fatal, ...fatal } = last;
  return [
    ...processLimitSteps(maxProcesses),
    { call: 'chdir', args: [workingDir], what: `chdir ${workingDir}` },
    // Closed by execve(), which reports that the program has started.
    { call: 'fcntl', args: [reportDescriptor, setDescriptorFlags, closeOnExec] },
    ...candidates.slice(0, -1),
    fatal,
  ];
}

/** RLIMIT_NPROC. */
const processesLimit = 6;

/** Last, so that the processes that start the program are not limited. */
function processLimitSteps(max: number | undefined): readonly Step[] {
  if (max === undefined) return [];
  const limit = Buffer.alloc(16);
  for (const offset of [0, 8]) limit.writeBigUInt64LE(BigInt(max), offset);
  return [{ call: 'prlimit64', args: [0, processesLimit, limit, 0], what: 'limit processes' }];
}
