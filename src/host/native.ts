// The C library without a compiler, through koffi, whose packages bring it prebuilt. It is loaded when first needed:
// a machine that cannot load it runs everything that does not need the kernel, and hears here what is missing.
import { createRequire } from 'node:module';
import { endianness } from 'node:os';
import { SystemCallError } from './system-call-error.ts';

/** koffi or the C library is not to be had on this machine; callers then use programs (nft, ip, conntrack). */
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
  /** The function of a C declaration, such as `int close(int fd)`, as the C library has it. */
  readonly declare: (definition: string) => NativeFunction;
  /** The same, with a SystemCallError thrown where it returns -1, and called again where a signal came between. */
  readonly checked: (definition: string) => NativeFunction;
  /** The same for hot paths, where failing is no exception: the error's number, negated, instead of -1. */
  readonly signed: (definition: string) => NativeFunction;
};

const eintr = 4;
let loaded: CLibrary | NativeUnavailableError | undefined;

/** Throws NativeUnavailableError, and the same one each time: what cannot be loaded once is not tried again. */
export function loadCLibrary(): CLibrary {
  loaded ??= load();
  if (loaded instanceof NativeUnavailableError) throw loaded;
  return loaded;
}

function load(): CLibrary | NativeUnavailableError {
  const place = `${process.platform} ${process.arch}`;
  if (process.platform !== 'linux') {
    return new NativeUnavailableError(`The kernel interface is Linux's; this is ${place}`);
  }
  if (endianness() !== 'LE') {
    return new NativeUnavailableError(
      `Messages are written for little-endian machines; ${place} is not`,
    );
  }
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    return bind(koffi);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new NativeUnavailableError(`Cannot load "koffi" on ${place}: ${reason}`, { cause });
  }
}

function bind(koffi: Koffi): CLibrary {
  // The process itself: the C library that Node runs on, glibc or musl, without guessing its file name.
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

/** For descriptors that the C library opened: in a worker thread Node complains of those that it did not open itself. */
export function closeDescriptor(descriptor: number): void {
  declaredClose ??= loadCLibrary().checked('int close(int fd)');
  declaredClose(descriptor);
}
