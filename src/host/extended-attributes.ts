// Extended attributes of open files and directories.
import { loadCLibrary, type NativeFunction } from './native.ts';
import { SystemCallError } from './system-call-error.ts';

type Calls = Readonly<Record<'fsetxattr' | 'fgetxattr' | 'flistxattr', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      fsetxattr: checked(
        'int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags)',
      ),
      fgetxattr: checked(
        'long fgetxattr(int descriptor, const char *name, _Out_ uint8_t *value, size_t size)',
      ),
      flistxattr: checked('long flistxattr(int descriptor, _Out_ uint8_t *names, size_t size)'),
    };
  }
  return declared;
}

/** Of Linux, for a value and for a list of names. */
const maxAttributeBytes = 65_536;

export function setAttribute(descriptor: number, name: string, value: Buffer): void {
  calls().fsetxattr(descriptor, name, value, value.length, 0);
}

/** Undefined if there is none, or the file system has none. */
export function readAttribute(descriptor: number, name: string): Buffer | undefined {
  return orAbsent(() => {
    const value = Buffer.alloc(maxAttributeBytes);
    return value.subarray(0, calls().fgetxattr(descriptor, name, value, value.length));
  });
}

export function listAttributes(descriptor: number): readonly string[] {
  const names = orAbsent(() => {
    const bytes = Buffer.alloc(maxAttributeBytes);
    return bytes.subarray(0, calls().flistxattr(descriptor, bytes, bytes.length));
  });
  return (names ?? Buffer.alloc(0))
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '');
}

function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SystemCallError && ['ENODATA', 'ENOTSUP'].includes(error.code))
      return undefined;
    throw error;
  }
}
