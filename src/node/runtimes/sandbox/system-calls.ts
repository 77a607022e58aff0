// Numbers of system calls. Kernel: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h.
import type { Architecture } from './machine-code.ts';

/** Used by the starter: x64, arm64. */
const starterCalls = {
  write: [1, 64],
  close: [3, 57],
  rt_sigprocmask: [14, 135],
  ioctl: [16, 29],
  clone: [56, 220],
  execve: [59, 221],
  kill: [62, 129],
  fcntl: [72, 25],
  chdir: [80, 49],
  umask: [95, 166],
  setsid: [112, 157],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  capset: [126, 91],
  rt_sigtimedwait: [128, 137],
  pivot_root: [155, 41],
  prctl: [157, 167],
  mount: [165, 40],
  umount2: [166, 39],
  sethostname: [170, 161],
  exit_group: [231, 94],
  waitid: [247, 95],
  openat: [257, 56],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  unlinkat: [263, 35],
  symlinkat: [266, 36],
  fchmodat: [268, 53],
  unshare: [272, 97],
  prlimit64: [302, 261],
  setns: [308, 268],
  seccomp: [317, 277],
  statx: [332, 291],
  open_tree: [428, 428],
  move_mount: [429, 429],
  close_range: [436, 436],
  mount_setattr: [442, 442],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

export type StarterCall = keyof typeof starterCalls;

export const callNumber = (name: StarterCall, architecture: Architecture): number =>
  starterCalls[name][architecture === 'x64' ? 0 : 1];
