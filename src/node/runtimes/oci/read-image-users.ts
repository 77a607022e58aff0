// Reads the users and groups of an image. A process mounts the image for that moment: the kernel then finds the files as a container would, and
// no link of the image leads out of it.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { closeDescriptor } from '../../../host/native.ts';
import { openBeneath } from '../../../host/open-beneath.ts';
import { SystemCallError } from '../../../host/system-call-error.ts';
import { ContainerConfigError } from '../runtime.ts';
import { holdImageSteps, type ImageFiles } from '../sandbox/image-steps.ts';
import { spawnStarter } from '../sandbox/spawn-starter.ts';
import type { AgentUser } from '../sandbox/user-steps.ts';
import { type ImageUsers, parseUsers } from './image-users.ts';

/** Of /etc/passwd and /etc/group each: machines with thousands of users have less. */
const maxFileBytes = 1 << 20;

export type ImageToRead = {
  readonly files: ImageFiles;
  /** An existing directory, where it is mounted. */
  readonly path: string;
  readonly agent?: AgentUser;
};

/** Throws ContainerConfigError. */
export async function readImageUsers(image: ImageToRead): Promise<ImageUsers> {
  const { files, path, agent } = image;
  if (files.kind === 'copy') return usersIn(files.path);
  const { child, problem } = spawnStarter(holdImageSteps(files, path, agent), [
    ...(['ignore', 'ignore', 'ignore'] as const),
  ]);
  try {
    const failure = await problem;
    if (failure !== undefined)
      throw new ContainerConfigError(`cannot ${failure.what}: ${failure.code}`);
    return usersIn(`/proc/${child.pid}/root`);
  } finally {
    child.kill('SIGKILL');
  }
}

function usersIn(path: string): ImageUsers {
  const root = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return parseUsers(textOf(root, 'etc/passwd'), textOf(root, 'etc/group'));
  } finally {
    closeSync(root);
  }
}

/** Empty where there is none. */
function textOf(root: number, path: string): string {
  // A pipe would make us wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  let file: number;
  try {
    file = openBeneath(root, path, { flags, followsLinks: true, isRoot: true });
  } catch (error) {
    if (error instanceof SystemCallError) return '';
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new ContainerConfigError(`/${path} of the image is not a file`);
    if (stat.size > maxFileBytes) {
      throw new ContainerConfigError(
        `/${path} of the image has ${stat.size} bytes, want at most ${maxFileBytes}`,
      );
    }
    const bytes = Buffer.alloc(stat.size);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeDescriptor(file);
  }
}
