// Network namespaces without the `ip` program. A namespace belongs to a thread, not to a process: a thread can enter one,
// create a socket or start a program there, and return; what it created stays inside. All of it is synchronous, so that no
// other work of the thread ever runs in the wrong namespace.
import { closeSync, openSync } from 'node:fs';
import { loadCLibrary, type NativeFunction } from './native.ts';

const newNetwork = 0x40000000;
const newMessages = 0x8000000;

/** Namespaces that a thread can have for itself: network, and System V IPC. */
type NamespaceKind = 'net' | 'ipc';
const flags: Readonly<Record<NamespaceKind, number>> = { net: newNetwork, ipc: newMessages };
const ownNamespace = (kind: NamespaceKind): string => `/proc/thread-self/ns/${kind}`;

/** A namespace that exists as long as it is held open or a process runs in it. */
export type HeldNamespace = {
  /** For other programs and for `insideNamespace`; valid until `release`. */
  readonly path: string;
  /** For child processes that inherit it. */
  readonly descriptor: number;
  readonly release: () => void;
};

/** Runs `work`, which must not be async, inside the namespace. Sockets it opens and programs it starts stay there. */
export function insideNamespace<Result>(path: string, work: () => Result): Result {
  return withReturn(() => {
    enter(path);
    return work();
  });
}

/**
 * Moves the calling thread into the namespace for good. For worker threads: their sockets, child processes, threads and synchronous
 * reads of /proc/sys/net are inside from then on. Work of libuv's thread pool (file promises, DNS lookups) stays outside.
 */
export function enterNamespace(path: string): void {
  enter(path);
}

/** The same with a new namespace, which ends with the thread. */
export function enterNewNamespace(): void {
  calls().unshare(newNetwork);
}

/** A new namespace, which ends with this process unless another one uses it. */
export function createNamespace(kind: NamespaceKind = 'net'): HeldNamespace {
  const descriptor = withReturn(() => {
    calls().unshare(flags[kind]);
    return openSync(ownNamespace(kind), 'r');
  }, kind);
  return {
    path: `/proc/${process.pid}/fd/${descriptor}`,
    descriptor,
    release: () => closeSync(descriptor),
  };
}

type Calls = Readonly<Record<'setns' | 'unshare', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      setns: checked('int setns(int fd, int nstype)'),
      unshare: checked('int unshare(int flags)'),
    };
  }
  return declared;
}

/** Runs `work`, which may change the thread's namespace, and restores the previous one. */
function withReturn<Result>(work: () => Result, kind: NamespaceKind = 'net'): Result {
  const original = openSync(ownNamespace(kind), 'r');
  try {
    return work();
  } finally {
    // If this fails, the thread is stuck in the wrong namespace, which is worse than an error of `work`: this error wins.
    calls().setns(original, flags[kind]);
    closeSync(original);
  }
}

function enter(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    calls().setns(descriptor, newNetwork);
  } finally {
    closeSync(descriptor);
  }
}
