import { getSystemErrorName } from 'node:util';

/** A call to the operating system that failed; `code` as Node names it (`EPERM`), so that callers compare one thing. */
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

export function errnoName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    // Numbers Node has no name for, such as ENOTSUPP of the kernel's inner life (524).
    return `errno ${errno}`;
  }
}
