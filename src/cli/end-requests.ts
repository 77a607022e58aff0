// Who may ask a process of ours to end: whoever sends it a signal, and the process of ours that started it, through a pipe.
// The same request often comes twice (systemd signals every process of a unit, a terminal signals a process and the one that started it),
// so each source counts for itself: what comes through the pipe is never taken for a second signal.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

export type EndRequests = {
  /** Ends in order; may come more than once. */
  readonly end: () => void;
  /** Ends at once, as the second Ctrl-C does. */
  readonly kill: (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => void;
};

/** Environment variable of a program whose starter holds the other end of the descriptor below (scripts/start.mjs). */
export const starterVariable = 'FAIRLEAD_STARTER';

/** A pipe from the process that started this one. Words come through it; when that process is gone, however it ended, it closes. */
export const controlDescriptor = 3;
/** The words, one on each line. */
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
  // The kernel and the shell both send it when a terminal closes, so the second one means no more than the first.
  process.on('SIGHUP', () => {
    if (!isDetached) end();
  });
}

/** Where this process was started without such a pipe, nobody asks through it. */
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
  // Its end may come as an error; 'close' follows.
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

/** What a process has to do with a terminal when it starts. */
export type Terminal = {
  /** One of the three standard descriptors is a terminal. */
  readonly isAttached: boolean;
  /** It has a controlling terminal, in whose background it runs. */
  readonly isInBackground: boolean;
  /** Standard input cannot be read, which is what nohup makes of a terminal. */
  readonly isInputUnreadable: boolean;
};

/**
 * Whether a hang-up of the terminal is to be ignored: `nohup` says so by ignoring SIGHUP, but Node.js undoes that before our code runs.
 * What is left to see is that nothing is connected to the terminal any more.
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
  // The name before it may hold anything, parentheses too.
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
