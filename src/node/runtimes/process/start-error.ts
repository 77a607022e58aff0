// Start errors with the messages of container runtimes.
import { ContainerStartError } from '../runtime.ts';
import { missingProgram } from '../sandbox/privilege-steps.ts';
import type { StartProblem } from '../sandbox/spawn-starter.ts';

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOEXEC: 'exec format error',
  ENOTDIR: 'not a directory',
  EINVAL: 'invalid argument',
  EROFS: 'read-only file system',
  ELOOP: 'too many levels of symbolic links',
};

export function startError(
  { what, code }: StartProblem,
  [program]: readonly [string, ...string[]],
): ContainerStartError {
  const why = words[code] ?? code;
  const failed = (message: string): ContainerStartError =>
    new ContainerStartError('RunContainerError', `exec: ${JSON.stringify(program)}: ${message}`);
  if (what === missingProgram)
    return failed(code === 'ENOENT' ? 'executable file not found in $PATH' : why);
  if (what === `run ${program}`) return failed(code === 'ENOENT' ? `stat ${program}: ${why}` : why);
  return new ContainerStartError('CreateContainerError', `cannot ${what}: ${why}`);
}
