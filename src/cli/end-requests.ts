// Requests to shut down: signals, and words from the parent process of ours through a pipe. The same request often arrives twice (systemd
// signals every process of a unit, a terminal signals parent and child), so each source counts separately: a word on the pipe is never
// taken for a second signal.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

export type EndRequests = {
  /** Shuts down gracefully; may be called several times. */
  readonly end: () => void;
  /** Exits at once, as a second Ctrl-C does. */
  readonly kill: (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => void;
};

/** Set when the parent process holds the other end of the control descriptor (scripts/start.mjs). */
export const starterVariable = 'FAIRLEAD_STARTER';

/** A pipe from the parent process, which sends words. It closes when the parent exits for any reason. */
export const controlDescriptor = 3;
/** The words, one per line. */
export const endWord = 'end';
const killWord = 'kill';

export function followSignals({ end, kill }: EndRequests, terminal: Terminal): void {
  const isDetached = isDetachedFrom(terminal);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    let count = 0;
    process.on(name, () => {
      count += 1;
      if (count === 1) end();
      else kill(name);
    });
  }
  // The kernel and the shell both send SIGHUP when a terminal closes, so a second one is not a second request.
  process.on('SIGHUP', () => {
    if (!isDetached) end();
  });
}

/** Does nothing when this process was started without the pipe. */
export function followControl({ end, kill }: EndRequests): void {
  const control = openControl();
  if (control === undefined) return;
  control.unref();
  control.on('data', (bytes: Buffer) => {
    for (const word of String(bytes).split('\n')) {
      if (word === endWord) end();
      if (word === killWord) kill('SIGKILL');
    }
  });
  // An error of the pipe is followed by 'close', which is handled.
  control.on('error', () => {});
  control.on('close', end);
}

function openControl(): Socket | undefined {
  try {
    return new Socket({ fd: controlDescriptor, readable: true, writable: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EBADF' || code === 'EINVAL' || code === 'ERR_INVALID_FD_TYPE') return undefined;
    throw error;
  }
}

/** How a process is connected to a terminal when it starts. */
export type Terminal = {
  /** One of the three standard descriptors is a terminal. */
  readonly isAttached: boolean;
  /** It runs in the background of its controlling terminal. */
  readonly isInBackground: boolean;
  /** Standard input is not readable, as after nohup. */
  readonly isInputUnreadable: boolean;
};

/**
 * Whether SIGHUP must be ignored. `nohup` sets it to be ignored, but Node.js resets that before our code runs. What remains visible is that
 * nothing is connected to the terminal any more.
 */
export function isDetachedFrom({
  isAttached,
  isInBackground,
  isInputUnreadable,
}: Terminal): boolean {
  return !isAttached && (isInBackground || isInputUnreadable);
}

export function readTerminal(): Terminal {
  const isAttached = [0, 1, 2].some((descriptor) => isatty(descriptor));
  if (process.platform !== 'linux')
    return { isAttached, isInBackground: false, isInputUnreadable: false };
  return {
    isAttached,
    ...parseTerminal(
      readFileSync('/proc/self/stat', 'utf8'),
      readFileSync('/proc/self/fdinfo/0', 'utf8'),
    ),
  };
}

/** From proc(5): the process group, the controlling terminal and its foreground group; the flags with which standard input was opened. */
export function parseTerminal(stat: string, inputInfo: string): Omit<Terminal, 'isAttached'> {
  // The program name may contain parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, , group, , terminal, foreground] = fields;
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(inputInfo)?.[1] ?? '0', 8);
  return {
    isInBackground: terminal !== '0' && group !== foreground,
    isInputUnreadable: (flags & accessMask) === writeOnly,
  };
}

const accessMask = 0o3;
const writeOnly = 0o1;
