// Signals by name, as images and specs of pods write them. Pure. Kernel: include/uapi/asm-generic/signal.h.
const names =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  );
const aliases: Readonly<Record<string, string>> = { IOT: 'ABRT', POLL: 'IO', CLD: 'CHLD' };

/** Of the kernel for real-time signals; the C library has taken the first two. */
const firstRealTime = 34;
const lastSignal = 64;

/** `SIGQUIT`, `quit`, `3`, `SIGRTMIN+3`, `RTMAX-1`; undefined for what is none. */
export function signalNumber(text = ''): number | undefined {
  const name = text.toUpperCase().replace(/^SIG/, '');
  if (/^\d{1,2}$/.test(name)) return inRange(Number(name));
  const [, base, sign, distance = '0'] = /^RT(MIN|MAX)(?:([+-])(\d{1,2}))?$/.exec(name) ?? [];
  if (base !== undefined) {
    const from = base === 'MIN' ? firstRealTime : lastSignal;
    return inRange(from + Number(distance) * (sign === '-' ? -1 : 1));
  }
  const at = names.indexOf(aliases[name] ?? name);
  return at < 0 ? undefined : at + 1;
}

const inRange = (signal: number): number | undefined =>
  signal >= 1 && signal <= lastSignal ? signal : undefined;
