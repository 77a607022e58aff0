// The kernel's capabilities, by number. Kernel: include/uapi/linux/capability.h.
const names = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'],
  ...['SETPCAP', 'LINUX_IMMUTABLE', 'NET_BIND_SERVICE', 'NET_BROADCAST', 'NET_ADMIN', 'NET_RAW'],
  ...['IPC_LOCK', 'IPC_OWNER', 'SYS_MODULE', 'SYS_RAWIO', 'SYS_CHROOT', 'SYS_PTRACE', 'SYS_PACCT'],
  ...['SYS_ADMIN', 'SYS_BOOT', 'SYS_NICE', 'SYS_RESOURCE', 'SYS_TIME', 'SYS_TTY_CONFIG', 'MKNOD'],
  ...['LEASE', 'AUDIT_WRITE', 'AUDIT_CONTROL', 'SETFCAP', 'MAC_OVERRIDE', 'MAC_ADMIN', 'SYSLOG'],
  ...['WAKE_ALARM', 'BLOCK_SUSPEND', 'AUDIT_READ', 'PERFMON', 'BPF', 'CHECKPOINT_RESTORE'],
] as const;

export type CapabilityName = (typeof names)[number];

/** Default capabilities of container runtimes. */
const defaultNames: readonly CapabilityName[] = [
  ...([
    'CHOWN',
    'DAC_OVERRIDE',
    'FOWNER',
    'FSETID',
    'KILL',
    'SETGID',
    'SETUID',
    'SETPCAP',
  ] as const),
  ...(['NET_BIND_SERVICE', 'NET_RAW', 'SYS_CHROOT', 'MKNOD', 'AUDIT_WRITE', 'SETFCAP'] as const),
];

export const allCapabilities: ReadonlySet<CapabilityName> = new Set(names);
export const defaultCapabilities: ReadonlySet<CapabilityName> = new Set(defaultNames);

export type CapabilityChoice = {
  readonly add?: readonly string[];
  readonly drop?: readonly string[];
};

export type ChosenCapabilities =
  | { readonly capabilities: ReadonlySet<CapabilityName> }
  | { readonly problem: string };

/** The default ones, minus `drop`, plus `add`, which takes precedence. */
export function chooseCapabilities({ add = [], drop = [] }: CapabilityChoice): ChosenCapabilities {
  const unknown = [...add, ...drop].find((name) => !isAll(name) && !isKnown(bare(name)));
  if (unknown !== undefined) return { problem: `unknown capability ${JSON.stringify(unknown)}` };
  const chosen = new Set<string>(add.some(isAll) ? names : defaultNames);
  if (drop.some(isAll)) chosen.clear();
  for (const name of drop) chosen.delete(bare(name));
  for (const name of add) if (!isAll(name)) chosen.add(bare(name));
  return { capabilities: new Set(names.filter((name) => chosen.has(name))) };
}

/** With or without the prefix CAP_, case-insensitive. */
const bare = (name: string): string => name.toUpperCase().replace(/^CAP_/, '');
const isAll = (name: string): boolean => bare(name) === 'ALL';
const isKnown = (name: string): boolean => allCapabilities.has(name as CapabilityName);

const capabilityNumber = (name: CapabilityName): number => names.indexOf(name);

/** As a bit set of the kernel. */
export function capabilityMask(capabilities: ReadonlySet<CapabilityName>): bigint {
  return [...capabilities].reduce(
    (mask, name) => mask | (1n << BigInt(capabilityNumber(name))),
    0n,
  );
}
