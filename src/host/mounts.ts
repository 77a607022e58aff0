// Mounts and unmounts tmpfs.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadCLibrary, type NativeFunction } from './native.ts';

type Calls = Readonly<Record<'mount' | 'unmount', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      mount: checked(
        'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
      ),
      unmount: checked('int umount2(const char *target, int flags)'),
    };
  }
  return declared;
}

const noSetuidNoDevices = 2 | 4;
const detachWithoutFollowing = 2 | 8;

/** Mounts tmpfs on a directory unless one is mounted there. Throws SystemCallError where this process may not mount. */
export function mountMemory(path: string, options: string): void {
  if (!isMounted(path)) calls().mount('fairlead', path, 'tmpfs', noSetuidNoDevices, options);
}

/** Does nothing if nothing is mounted there. */
export function unmountMemory(path: string): void {
  if (isMounted(path)) calls().unmount(path, detachWithoutFollowing);
}

function isMounted(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.dev !== statSync(dirname(path)).dev;
}
