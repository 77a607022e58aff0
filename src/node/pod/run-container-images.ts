// Gets the images of one container: its own, and those of volumes that it mounts. They stay on the machine until they are released.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { pullKeyring } from '../images/pull-keyring.ts';
import {
  backOffEvent,
  backOffProblem,
  failedPullEvent,
  type ImageProblem,
  presentEvent,
} from '../images/pull-messages.ts';
import type { ImageOutcome, PresentImage } from '../images/run-pulls.ts';
import { mountedImageVolumes } from '../volumes/image-volumes.ts';
import { type Containers, recordEvent } from './active-containers.ts';

export type ContainerImages = {
  /** Absent: the container runs from this machine's files. */
  readonly root?: PresentImage;
  /** By the name of the volume. */
  readonly volumes: ReadonlyMap<string, PresentImage>;
  readonly release: () => void;
};

/** As container runtimes name it: by what its registry calls it, if it came from one. */
export function statusImage({ local, name }: PresentImage): { name: string; id: string } {
  const repository = name.split('@', 1)[0]?.replace(/:[^:/]*$/, '') ?? '';
  const id = local.digests.find((digest) => digest.startsWith(`${repository}@`)) ?? local.id;
  return { name, id };
}

export type RefusedImage = {
  readonly problem: ImageProblem;
  /** When the pull is tried again, if that is known. */
  readonly retryAt?: number;
};

/** Rejects with the signal of an interrupted pod. */
export async function getContainerImages(
  all: Containers,
  container: Container,
  pod: Pod,
): Promise<ContainerImages | RefusedImage> {
  const { image = '', imagePullPolicy = 'IfNotPresent' } = container;
  const { runtime } = all.parts;
  const wanted: WantedImage[] = [...mountedImageVolumes(pod, container)];
  if (runtime.needsImage?.({ image })) wanted.push({ image, policy: imagePullPolicy });
  else {
    const problem = runtime.imageProblem({ image, command: container.command ?? [] });
    if (problem !== undefined) return unknownImage(all, container, pod, { image, problem });
    recordEvent(all, pod, container, presentEvent(image));
  }
  const found: (WantedImage & { readonly present: PresentImage })[] = [];
  const release = (): void => {
    for (const { present } of found) present.release();
  };
  try {
    for (const one of wanted) {
      const outcome = await getImage(all, container, pod, one);
      if ('problem' in outcome) {
        release();
        return outcome;
      }
      found.push({ ...one, present: outcome.image });
    }
  } catch (error) {
    release();
    throw error;
  }
  const root = found.find(({ volume }) => volume === undefined)?.present;
  const volumes = new Map(
    found.flatMap(({ volume, present }) => (volume === undefined ? [] : [[volume, present]])),
  );
  return { ...(root === undefined ? {} : { root }), volumes, release };
}

type WantedImage = {
  readonly image: string;
  readonly policy: string;
  /** Name of the volume that it is for; absent: for the container. */
  readonly volume?: string;
};

async function getImage(
  all: Containers,
  container: Container,
  pod: Pod,
  { image, policy, volume }: WantedImage,
): Promise<ImageOutcome> {
  const { parts, interrupted } = all;
  if (parts.images === undefined) {
    const problem = `volume ${JSON.stringify(volume)} cannot be mounted: this node runs processes and has no images`;
    return unknownImage(all, container, pod, { image, problem });
  }
  return parts.images.pulls.get(
    {
      ...{ image, policy, podUid: pod.metadata.uid ?? '' },
      keyring: () => pullKeyring(parts, pod),
      record: (event) => recordEvent(all, pod, container, event),
    },
    interrupted.signal,
  );
}

/** A node that has no images reports them as failed pulls. */
function unknownImage(
  all: Containers,
  container: Container,
  pod: Pod,
  { image, problem }: { readonly image: string; readonly problem: string },
): RefusedImage {
  const last: ImageProblem = { reason: 'ErrImagePull', message: problem };
  if (all.records[container.name] !== undefined) {
    recordEvent(all, pod, container, backOffEvent(image));
    return { problem: backOffProblem(image, last) };
  }
  recordEvent(all, pod, container, failedPullEvent(image, problem));
  return { problem: last };
}
