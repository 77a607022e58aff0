// Network namespaces without the `ip` program. A namespace belongs to a thread, not to a process: a thread can step
// inside, make a socket or start a program there, and step out again; what was made stays inside. All of it is
// synchronous, so that no other work of the thread ever runs in the wrong place.
import { closeSync, openSync } from 'node:fs';
import { loadCLibrary, type NativeFunction } from './native.ts';

const newNetwork = 0x40000000;
const newMessages = 0x8000000;

/** Namespaces that a thread can have for itself: of the network, and of messages and memory shared between processes. */
type NamespaceKind = 'net' | 'ipc';
const flags: Readonly<Record<NamespaceKind, number>> = { net: newNetwork, ipc: newMessages };
const ownNamespace = (kind: NamespaceKind): string => `/proc/thread-self/ns/${kind}`;

/** A namespace that lives as long as it is held open or something runs in it. */
export type HeldNamespace = {
  /** For other programs and for `insideNamespace`; good until `release`. */
  readonly path: string;
  /** For programs that are started with it. */
  readonly descriptor: number;
  readonly release: () => void;
};

/** Runs `work`, which must not be async, inside the namespace; sockets it opens and programs it starts stay there. */
export function insideNamespace<Result>(path: string, work: () => Result): Result {
  return withReturn(() => {
    enter(path);
    return work();
  });
}

/**
 * Moves the calling thread into the namespace for good. For worker threads: everything that thread does from now on, its sockets,
 * programs and synchronous reads of /proc/sys/net, is inside; threads that it starts begin inside. Work that Node hands to its pool (file
 * promises, looking up names) stays outside.
 */
export function enterNamespace(path: string): void {
  enter(path);
}

/** The same with a namespace that is new, empty, and gone with the thread. */
export function enterNewNamespace(): void {
  calls().unshare(newNetwork);
}

/** A new namespace: it ends with this process, unless something else still uses it. */
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

/** Does `work`, which may change the thread's namespace, and brings the thread back to where it was. */
function withReturn<Result>(work: () => Result, kind: NamespaceKind = 'net'): Result {
  const home = openSync(ownNamespace(kind), 'r');
  try {
    return work();
  } finally {
    // Should this fail, the thread is lost in a foreign place: the error must not be taken for that of `work`.
    calls().setns(home, flags[kind]);
    closeSync(home);
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
