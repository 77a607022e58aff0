// Runs containers of images, by the means that run containers as processes of this machine.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../host/remove-tree.ts';
import type { UnpackedImage } from '../../../images/image-store.ts';
import type { Log } from '../../../observe/log.ts';
import { type ImageMap, mappedImage, processImage } from '../process/image-map.ts';
import { type Isolation, probeIsolation } from '../process/probe-host.ts';
import {
  createProcessRuntime,
  type PreparedImages,
  type ProcessRuntimeOptions,
} from '../process/run-runtime.ts';
import {
  ContainerStartError,
  type ContainerToRun,
  type RootImage,
  type Runtime,
} from '../runtime.ts';
import type { ImageFiles } from '../sandbox/image-steps.ts';
import { copyImage, makeOverlay } from './apply-image-files.ts';
import { imageProgram } from './image-program.ts';
import type { ImageUsers } from './image-users.ts';
import { createOverlayProbe } from './probe-overlay.ts';
import { readImageUsers } from './read-image-users.ts';

/** Containers whose image is `process` or in the image map run from this machine's files. */
export async function createOciRuntime(
  options: Omit<ProcessRuntimeOptions, 'isolation' | 'prepare'>,
): Promise<Runtime> {
  const { images, directory, log } = options;
  const isolation = await probeIsolation();
  const makeFiles = createFileMaker(directory, isolation, log);
  const runtime = await createProcessRuntime({
    ...options,
    isolation,
    prepare: (container) => prepare(container, makeFiles),
  });
  return {
    ...runtime,
    name: 'oci',
    needsImage: ({ image }) => !isOfHost(images, image),
    imageUsers: createUsersReader(join(directory, 'image-users'), isolation, makeFiles),
  };
}

const isOfHost = (images: ImageMap, image: string): boolean =>
  image === processImage || mappedImage(images, image) !== undefined;

type FileTarget = { readonly directory: string; readonly isWritable: boolean };
type FileMaker = (image: UnpackedImage, target: FileTarget) => Promise<ImageFiles>;

function createFileMaker(directory: string, isolation: Isolation, log: Log): FileMaker {
  if (isolation.kind === 'none') {
    return () => {
      const message = `cannot run an image: this machine does not permit the node agent to isolate containers (${isolation.why})`;
      return Promise.reject(new ContainerStartError('CreateContainerError', message));
    };
  }
  const { agent } = isolation;
  const canOverlay = createOverlayProbe({
    ...{ directory: join(directory, 'overlay-test'), log },
    ...(agent === undefined ? {} : { agent }),
  });
  return async (image, target) => {
    mkdirSync(target.directory, { recursive: true, mode: 0o700 });
    return (await canOverlay(image.form)) ? makeOverlay(image, target) : copyImage(image, target);
  };
}

async function prepare(container: ContainerToRun, makeFiles: FileMaker): Promise<PreparedImages> {
  const { rootImage, mounts, directory } = container;
  const imageVolumes = new Map<string, ImageFiles>();
  for (const [index, { image, path }] of mounts.entries()) {
    if (image === undefined) continue;
    const own = join(directory, 'image-volumes', String(index));
    imageVolumes.set(path, await makeFiles(image, { directory: own, isWritable: false }));
  }
  return {
    ...(imageVolumes.size === 0 ? {} : { imageVolumes }),
    ...(rootImage === undefined ? {} : await imageContainer(container, rootImage, makeFiles)),
  };
}

async function imageContainer(
  container: ContainerToRun,
  { local, unpacked }: RootImage,
  makeFiles: FileMaker,
): Promise<PreparedImages> {
  const { directory, security } = container;
  const program = imageProgram(local.config, container, security.home);
  const { argv, variables, workingDir, volumes, stopSignal } = program;
  return {
    ...{ argv, variables, workingDir },
    ...(stopSignal === undefined ? {} : { stopSignal }),
    image: {
      files: await makeFiles(unpacked, { directory, isWritable: true }),
      directories: [workingDir, ...volumes],
      writable: security.hasReadOnlyRoot ? volumes : [],
    },
  };
}

/** More images than a node has at a time. */
const maxCachedImages = 200;

function createUsersReader(
  directory: string,
  isolation: Isolation,
  makeFiles: FileMaker,
): NonNullable<Runtime['imageUsers']> {
  const cached = new Map<string, Promise<ImageUsers>>();
  let count = 0;
  const read = async (unpacked: UnpackedImage): Promise<ImageUsers> => {
    count += 1;
    const own = join(directory, String(count));
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Of a killed agent.
    await removeTree(own);
    try {
      const files = await makeFiles(unpacked, { directory: own, isWritable: false });
      const path = join(own, 'root');
      mkdirSync(path);
      const agent = isolation.kind === 'none' ? undefined : isolation.agent;
      return await readImageUsers({ files, path, ...(agent === undefined ? {} : { agent }) });
    } finally {
      await removeTree(own);
    }
  };
  return ({ id }, unpacked) => {
    const users = cached.get(id) ?? read(unpacked);
    cached.delete(id);
    cached.set(id, users);
    users.catch(() => cached.delete(id));
    const [oldest] = cached.keys();
    if (cached.size > maxCachedImages && oldest !== undefined) cached.delete(oldest);
    return users;
  };
}
