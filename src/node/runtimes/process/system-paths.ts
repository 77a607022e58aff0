// What a container sees of the machine's devices and of the kernel's files.
export const systemPaths = {
  /** Those that every program may count on. */
  devices: ['null', 'zero', 'full', 'random', 'urandom', 'tty'],
  /** They tell of the machine and its other users, or of its memory. */
  hidden: [
    ...['/proc/acpi', '/proc/asound', '/proc/interrupts', '/proc/kcore', '/proc/keys'],
    ...['/proc/latency_stats', '/proc/sched_debug', '/proc/scsi', '/proc/timer_list'],
    ...['/proc/timer_stats', '/sys/devices/virtual/powercap', '/sys/firmware'],
  ],
  /** They change the machine. */
  fixed: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
} as const;
