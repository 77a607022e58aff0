// The C library through koffi, whose packages are prebuilt: no compiler is needed. It is loaded on first use. A machine that
// cannot load it runs everything that does not need system calls, and the error says what is missing.
import { createRequire } from 'node:module';
import { endianness } from 'node:os';
import { SystemCallError } from './system-call-error.ts';

/** koffi or the C library cannot be loaded on this machine. Callers then use programs (nft, ip, conntrack). */
export class NativeUnavailableError extends Error {
  override readonly name = 'NativeUnavailableError';
}

/** A C function; arguments and results as koffi converts them (numbers, bigints, strings, buffers as pointers). */
export type NativeFunction = (...args: readonly unknown[]) => number;

type Koffi = {
  load: (path: string | null) => { func: (definition: string) => NativeFunction };
  errno: () => number;
};

export type CLibrary = {
  /** The C function of a declaration such as `int close(int fd)`. */
  readonly declare: (definition: string) => NativeFunction;
  /** The same, but throws SystemCallError where it returns -1, and retries on EINTR. */
  readonly checked: (definition: string) => NativeFunction;
  /** The same for hot paths, where failures are expected: the negated error number instead of -1. */
  readonly signed: (definition: string) => NativeFunction;
};

const eintr = 4;
let loaded: CLibrary | NativeUnavailableError | undefined;

/** Throws NativeUnavailableError, the same one each time: a failed load is not tried again. */
export function loadCLibrary(): CLibrary {
  loaded ??= load();
  if (loaded instanceof NativeUnavailableError) throw loaded;
  return loaded;
}

function load(): CLibrary | NativeUnavailableError {
  const platform = `${process.platform} ${process.arch}`;
  if (process.platform !== 'linux') {
    return new NativeUnavailableError(`System calls need Linux; this is ${platform}`);
  }
  if (endianness() !== 'LE') {
    return new NativeUnavailableError(
      `Netlink messages need a little-endian machine; ${platform} is not`,
    );
  }
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    return bind(koffi);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new NativeUnavailableError(`Cannot load "koffi" on ${platform}: ${reason}`, { cause });
  }
}

function bind(koffi: Koffi): CLibrary {
  // The symbols of this process: the C library that Node runs on, glibc or musl, whatever its file name.
  const library = koffi.load(null);
  return {
    declare: (definition) => library.func(definition),
    checked: (definition) => {
      const call = library.func(definition);
      const name = definition.split('(', 1)[0]?.trim().split(/[\s*]/).at(-1) ?? definition;
      return (...args) => {
        for (;;) {
          const result = call(...args);
          if (result !== -1) return result;
          const errno = koffi.errno();
          if (errno !== eintr) throw new SystemCallError(name, errno);
        }
      };
    },
    signed: (definition) => {
      const call = library.func(definition);
      return (...args) => {
        const result = call(...args);
        return result === -1 ? -koffi.errno() : result;
      };
    },
  };
}

let declaredClose: NativeFunction | undefined;

/** For descriptors that the C library opened: in a worker thread, Node warns of those that it did not open itself. */
export function closeDescriptor(descriptor: number): void {
  declaredClose ??= loadCLibrary().checked('int close(int fd)');
  declaredClose(descriptor);
}
