import { getSystemErrorName } from 'node:util';

/** A system call that failed. `code` is the error's name as in Node's own errors (`EPERM`). */
export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  readonly call: string;
  readonly errno: number;
  readonly code: string;

  constructor(call: string, errno: number) {
    const code = errnoName(errno);
    super(`${call}: ${code}`);
    this.call = call;
    this.errno = errno;
    this.code = code;
  }
}

/** Names that Linux has and Node has not. */
const otherNames: Readonly<Record<number, string>> = { 85: 'ERESTART', 524: 'ENOTSUPP' };

export function errnoName(errno: number): string {
  const name = otherNames[errno] ?? getSystemErrorName(-errno);
  return name.startsWith('E') ? name : `errno ${errno}`;
}
