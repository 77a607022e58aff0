// An event loop over epoll for a worker thread that does nothing else: it blocks in the kernel until a descriptor is ready or a
// timer is due. Other threads wake it through an eventfd.
import { arch } from 'node:process';
import { loadCLibrary } from './native.ts';
import { SystemCallError } from './system-call-error.ts';

export const readable = 0x1;
/** TCP's urgent data: reads end before it and after it. */
export const urgent = 0x2;
export const writable = 0x4;
export const failed = 0x8;
export const hungUp = 0x10;
export const peerEnded = 0x2000;
/** One event for each change instead of one for as long as it lasts. */
export const edgeTriggered = 2 ** 31;

export type PollLoop = {
  /** Each descriptor has one listener. */
  readonly add: (fd: number, interest: number, listener: (events: number) => void) => void;
  /** Replaces the listener of a descriptor. */
  readonly listen: (fd: number, listener: (events: number) => void) => void;
  /** For a descriptor that stays open. */
  readonly remove: (fd: number) => void;
  /** For a descriptor that is closed right after, which also removes it from epoll. Its number may be reused at once. */
  readonly forget: (fd: number) => void;
  /** Runs once after the time; the returned function cancels it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** Runs in the next iteration, after the events that are pending now: for work in fair slices. */
  readonly soon: (run: () => void) => void;
  /** Returns after `stop`, at the end of an iteration. */
  readonly run: () => void;
  readonly stop: () => void;
};

type Timer = { readonly dueMs: number; readonly run: () => void; isCancelled: boolean };

const closeOnExec = 0x80000;
const controlAdd = 1;
const controlDelete = 2;
/** Events of one epoll_wait call. */
const batch = 512;
/** The kernel's struct epoll_event is packed on x86 only. */
const eventBytes = arch === 'x64' || arch === 'ia32' ? 12 : 16;
const dataOffset = eventBytes - 8;
const interrupted = -4;

export function createPollLoop(now: () => number = () => performance.now()): PollLoop {
  const { checked, signed } = loadCLibrary();
  const poll = checked('int epoll_create1(int flags)')(closeOnExec);
  const control = checked('int epoll_ctl(int poll, int operation, int fd, const void *event)');
  const wait = signed('int epoll_wait(int poll, void *events, int maxEvents, int timeoutMs)');
  const close = checked('int close(int fd)');
  const listeners: (((events: number) => void) | undefined)[] = [];
  const events = Buffer.alloc(eventBytes * batch);
  const event = Buffer.alloc(eventBytes);
  const timers = createTimers(now);
  let queue: (() => void)[] = [];
  let isRunning = true;

  const runOnce = (): void => {
    const count = wait(poll, events, batch, queue.length > 0 ? 0 : timers.waitMs());
    if (count < 0 && count !== interrupted) throw new SystemCallError('epoll_wait', -count);
    for (let at = 0; at < count; at += 1) {
      const fd = events.readInt32LE(at * eventBytes + dataOffset);
      listeners[fd]?.(events.readUInt32LE(at * eventBytes));
    }
    timers.runDue();
    const due = queue;
    queue = [];
    for (const run of due) run();
  };

  return {
    add(fd, interest, listener) {
      event.writeUInt32LE(interest >>> 0, 0);
      event.writeInt32LE(fd, dataOffset);
      control(poll, controlAdd, fd, event);
      listeners[fd] = listener;
    },
    listen(fd, listener) {
      listeners[fd] = listener;
    },
    remove(fd) {
      if (listeners[fd] === undefined) return;
      listeners[fd] = undefined;
      control(poll, controlDelete, fd, event);
    },
    forget(fd) {
      listeners[fd] = undefined;
    },
    after: timers.after,
    soon: (run) => queue.push(run),
    run() {
      while (isRunning) runOnce();
      close(poll);
    },
    stop() {
      isRunning = false;
    },
  };
}

/** Only a few distinct delays are in use, so that a list for each, in the order of due times, beats a heap. */
function createTimers(now: () => number) {
  const byLength = new Map<number, Timer[]>();
  const firstActive = (list: Timer[]): Timer | undefined => {
    while (list[0]?.isCancelled === true) list.shift();
    return list[0];
  };
  return {
    after(ms: number, run: () => void): () => void {
      const timer: Timer = { dueMs: now() + ms, run, isCancelled: false };
      const list = byLength.get(ms);
      if (list === undefined) byLength.set(ms, [timer]);
      else list.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
    /** The timeout for epoll_wait: -1 is forever. */
    waitMs(): number {
      let first = Number.POSITIVE_INFINITY;
      for (const list of byLength.values())
        first = Math.min(first, firstActive(list)?.dueMs ?? first);
      return first === Number.POSITIVE_INFINITY ? -1 : Math.max(0, Math.ceil(first - now()));
    },
    runDue(): void {
      const time = now();
      for (const list of byLength.values()) {
        for (
          let timer = firstActive(list);
          timer !== undefined && timer.dueMs <= time;
          timer = firstActive(list)
        ) {
          list.shift();
          timer.run();
        }
      }
    },
  };
}
