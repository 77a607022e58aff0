// Network namespaces without the `ip` program. A namespace belongs to a thread, not to a process: a thread can step
// inside, make a socket or start a program there, and step out again; what was made stays inside. All of it is
// synchronous, so that no other work of the thread ever runs in the wrong place.
import { closeSync, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { loadCLibrary, type NativeFunction } from './native.ts';
import { SystemCallError } from './system-call-error.ts';

/** Where the `ip` program keeps named namespaces; ours stand beside them and are seen by it. */
const namespaceDirectory = '/run/netns';
const ownNamespace = '/proc/thread-self/ns/net';

const newNetwork = 0x40000000;
const mountFlag = { bind: 0x1000, recursive: 0x4000, shared: 0x100000 } as const;
const detach = 2;

/** A namespace that lives as long as it is held open, something runs in it, or its name exists. */
export type HeldNamespace = {
  /** For other programs and for `insideNamespace`; good until `release`. */
  readonly path: string;
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

/** A new namespace without a name: it ends with this process, unless something else still uses it. */
export function createNamespace(): HeldNamespace {
  const descriptor = withReturn(() => {
    calls().unshare(newNetwork);
    return openSync(ownNamespace, 'r');
  });
  return {
    path: `/proc/${process.pid}/fd/${descriptor}`,
    release: () => closeSync(descriptor),
  };
}

/** A new namespace with a name, as `ip netns add` makes it: it outlives this process. Returns its path. */
export function createNamedNamespace(name: string): string {
  const path = namespacePath(name);
  shareNamespaceDirectory();
  closeSync(openSync(path, 'wx', 0o444));
  const namespace = createNamespace();
  try {
    calls().mount(namespace.path, path, 'none', mountFlag.bind, null);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    namespace.release();
  }
  return path;
}

/** Removes the name, and with it the namespace once nothing runs in it. Fine when there is none. */
export function deleteNamedNamespace(name: string): void {
  const path = namespacePath(name);
  ignoring(['EINVAL', 'ENOENT'], () => calls().umount2(path, detach));
  ignoring(['ENOENT'], () => unlinkSync(path));
}

export function namespacePath(name: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$/.test(name)) {
    throw new RangeError(
      `Cannot use "${name}" as the name of a namespace: it must be a plain file name`,
    );
  }
  return join(namespaceDirectory, name);
}

type Calls = Readonly<Record<'setns' | 'unshare' | 'mount' | 'umount2', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      setns: checked('int setns(int fd, int nstype)'),
      unshare: checked('int unshare(int flags)'),
      mount: checked(
        'int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data)',
      ),
      umount2: checked('int umount2(const char *target, int flags)'),
    };
  }
  return declared;
}

/** Does `work`, which may change the thread's namespace, and brings the thread back to where it was. */
function withReturn<Result>(work: () => Result): Result {
  const home = openSync(ownNamespace, 'r');
  try {
    return work();
  } finally {
    // Should this fail, the thread is lost in a foreign place: the error must not be taken for that of `work`.
    calls().setns(home, newNetwork);
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

/** Mounts made there must reach other mount namespaces, or a namespace deleted here would live on over there. */
function shareNamespaceDirectory(): void {
  mkdirSync(namespaceDirectory, { recursive: true, mode: 0o755 });
  const share = (): number =>
    calls().mount('', namespaceDirectory, 'none', mountFlag.shared | mountFlag.recursive, null);
  try {
    share();
  } catch (error) {
    if (!(error instanceof SystemCallError && error.code === 'EINVAL')) throw error;
    // Not a mount of its own yet: made one by mounting it onto itself.
    const itself = mountFlag.bind | mountFlag.recursive;
    calls().mount(namespaceDirectory, namespaceDirectory, 'none', itself, null);
    share();
  }
}

function ignoring(codes: readonly string[], work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const isExpected =
      error instanceof Error && 'code' in error && codes.includes(String(error.code));
    if (!isExpected) throw error;
  }
}
