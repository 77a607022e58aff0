// The seccomp filter of containers: refuses system calls that only administrators need. A classic BPF program, which sees
// the system call number, the architecture and the arguments. Kernel: Documentation/userspace-api/seccomp_filter.rst.
import type { CapabilityName } from './capabilities.ts';
import type { Architecture } from './machine-code.ts';

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Refused without the capability; `never`: always refused. */
const refused: Readonly<
  Partial<Record<CapabilityName | 'never', Readonly<Record<string, Numbers>>>>
> = {
  never: {
    add_key: [248, 217],
    request_key: [249, 218],
    keyctl: [250, 219],
    userfaultfd: [323, 282],
    uselib: [134, undefined],
    ustat: [136, undefined],
    sysfs: [139, undefined],
    _sysctl: [156, undefined],
    nfsservctl: [180, 42],
    io_uring_setup: [425, 425],
    io_uring_enter: [426, 426],
    io_uring_register: [427, 427],
    kexec_load: [246, 104],
    kexec_file_load: [320, 294],
  },
  SYS_ADMIN: {
    mount: [165, 40],
    umount2: [166, 39],
    pivot_root: [155, 41],
    swapon: [167, 224],
    swapoff: [168, 225],
    setns: [308, 268],
    unshare: [272, 97],
    quotactl: [179, 60],
    quotactl_fd: [443, 443],
    setdomainname: [171, 162],
    sethostname: [170, 161],
    lookup_dcookie: [212, 18],
    fanotify_init: [300, 262],
    open_tree: [428, 428],
    move_mount: [429, 429],
    fsopen: [430, 430],
    fsconfig: [431, 431],
    fsmount: [432, 432],
    fspick: [433, 433],
    mount_setattr: [442, 442],
    open_tree_attr: [467, 467],
  },
  BPF: { bpf: [321, 280] },
  PERFMON: { perf_event_open: [298, 241] },
  SYS_BOOT: { reboot: [169, 142] },
  SYS_MODULE: {
    init_module: [175, 105],
    delete_module: [176, 106],
    finit_module: [313, 273],
    create_module: [174, undefined],
    query_module: [178, undefined],
    get_kernel_syms: [177, undefined],
  },
  SYS_PACCT: { acct: [163, 89] },
  SYS_RAWIO: { iopl: [172, undefined], ioperm: [173, undefined] },
  SYS_TIME: { settimeofday: [164, 170], clock_settime: [227, 112], clock_adjtime: [305, 266] },
  SYS_TTY_CONFIG: { vhangup: [153, 58] },
  SYSLOG: { syslog: [103, 116] },
  DAC_READ_SEARCH: { open_by_handle_at: [304, 265] },
  SYS_NICE: {
    move_pages: [279, 239],
    migrate_pages: [256, 238],
    mbind: [237, 235],
    set_mempolicy: [238, 237],
  },
  SYS_PTRACE: { kcmp: [312, 272], process_madvise: [440, 440] },
};

/** Changes of owners and users, which succeed without effect where there is only one user. */
const ownerCalls: Readonly<Record<string, Numbers>> = {
  chown: [92, undefined],
  fchown: [93, 55],
  lchown: [94, undefined],
  fchownat: [260, 54],
  setuid: [105, 146],
  setgid: [106, 144],
  setreuid: [113, 145],
  setregid: [114, 143],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  setfsuid: [122, 151],
  setfsgid: [123, 152],
};

/** The kernel still accepts SYS_ADMIN for these. */
const alsoByAdmin: readonly CapabilityName[] = ['BPF', 'PERFMON', 'SYSLOG'];

const clone: Readonly<Record<Architecture, number>> = { x64: 56, arm64: 220 };
const clone3 = 435;
/** CLONE_NEW*: new namespaces would give all capabilities in them, and more attack surface of the kernel. */
const namespaceFlags = 0x7e020000;
const socket: Readonly<Record<Architecture, number>> = { x64: 41, arm64: 198 };
/** Address families that leave the machine without its network (vsock), or that are a needless attack surface (alg). */
const refusedFamilies = [38, 40];

const auditArchitecture: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};
/** System calls of x32, which would bypass comparisons. */
const x32Bit = 0x40000000;

const allow = 0x7fff0000;
const errno = 0x00050000;
const eperm = 1;
const enosys = 38;

// Offsets in struct seccomp_data.
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number): number => 16 + index * 8;

/** BPF instructions used here. */
const load = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const jumpAnyBit = 0x45;
const giveBack = 0x06;

type Instruction = readonly [code: number, onTrue: number, onFalse: number, value: number];

/** System calls refused to a container with these capabilities. */
export function refusedCalls(
  architecture: Architecture,
  capabilities: ReadonlySet<CapabilityName>,
): readonly number[] {
  const has = (name: string): boolean =>
    capabilities.has(name as CapabilityName) ||
    (capabilities.has('SYS_ADMIN') && alsoByAdmin.includes(name as CapabilityName));
  const numbers = Object.entries(refused)
    .filter(([name]) => !has(name))
    .flatMap(([, calls]) => numbersOf(Object.values(calls), architecture));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

const numbersOf = (calls: readonly Numbers[], architecture: Architecture): readonly number[] =>
  calls.flatMap(([x64, arm64]) => (architecture === 'x64' ? x64 : arm64) ?? []);

/** The encoded program: eight bytes per instruction. */
export function seccompFilter(
  architecture: Architecture,
  capabilities: ReadonlySet<CapabilityName>,
  { hasOneOwner = false }: { readonly hasOneOwner?: boolean } = {},
): Uint8Array {
  const isAdmin = capabilities.has('SYS_ADMIN');
  const refuse = (code: number): Instruction => [giveBack, 0, 0, errno | code];
  const succeed = refuse(0);
  const ignored = hasOneOwner ? numbersOf(Object.values(ownerCalls), architecture) : [];
  const when = (call: number, answer: readonly Instruction[]): readonly Instruction[] => [
    [jumpEqual, 0, answer.length, call],
    ...answer,
  ];
  const instructions: readonly Instruction[] = [
    [load, 0, 0, architectureOffset],
    [jumpEqual, 1, 0, auditArchitecture[architecture]],
    refuse(enosys),
    [load, 0, 0, numberOffset],
    ...(architecture === 'x64' ? ([[jumpAtLeast, 0, 1, x32Bit], refuse(enosys)] as const) : []),
    ...refusedCalls(architecture, capabilities).flatMap((call) => when(call, [refuse(eperm)])),
    ...ignored.flatMap((call) => when(call, [succeed])),
    ...(isAdmin
      ? []
      : [
          // Its flags are in memory, which a filter cannot read; libraries fall back to clone.
          ...when(clone3, [refuse(enosys)]),
          ...when(clone[architecture], [
            [load, 0, 0, argumentOffset(0)],
            [jumpAnyBit, 0, 1, namespaceFlags],
            refuse(eperm),
            [giveBack, 0, 0, allow],
          ]),
        ]),
    ...when(socket[architecture], [
      [load, 0, 0, argumentOffset(0)],
      ...refusedFamilies.flatMap((family): readonly Instruction[] => [
        [jumpEqual, 0, 1, family],
        refuse(eperm),
      ]),
      [giveBack, 0, 0, allow],
    ]),
    [giveBack, 0, 0, allow],
  ];
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, onTrue, onFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(onTrue, index * 8 + 2);
    bytes.writeUInt8(onFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
