// Gets the images of containers: from the store, or from a registry, as the pull policy says. Upstream: pkg/kubelet/images/image_manager.go.
import { ImageError } from '../../images/image-error.ts';
import type { ImageStore, LocalImage, UnpackedImage } from '../../images/image-store.ts';
import type { Keyring } from '../../images/keyring.ts';
import { parseReference, referenceText } from '../../images/parse-reference.ts';
import { createPullBackOff, type PullBackOff } from './pull-back-off.ts';
import {
  backOffEvent,
  backOffProblem,
  failedPullEvent,
  type ImageEvent,
  type ImageProblem,
  inspectProblem,
  invalidNameProblem,
  neverPullProblem,
  presentEvent,
  pulledEvent,
  pullingEvent,
  runtimeErrorText,
} from './pull-messages.ts';
import { createPullQueue, type PullQueue } from './run-pull-queue.ts';

/** An image on this machine that is not removed before `release`. */
export type PresentImage = {
  readonly local: LocalImage;
  readonly unpacked: UnpackedImage;
  /** The full name by which it was requested. */
  readonly name: string;
  readonly release: () => void;
};

export type ImageRequest = {
  readonly image: string;
  readonly policy: string;
  /** Of the pod that needs it. */
  readonly podUid: string;
  /** Called before a pull. */
  readonly keyring: () => Promise<Keyring>;
  readonly record: (event: ImageEvent) => void;
};

export type ImageOutcome =
  | { readonly image: PresentImage }
  | { readonly problem: ImageProblem; readonly retryAt?: number };

export type ImagePulls = {
  /** Rejects only with the signal. */
  readonly get: (request: ImageRequest, signal: AbortSignal) => Promise<ImageOutcome>;
  /** Of images that are being pulled. */
  readonly pulling: () => readonly PullState[];
};

export type PullState = {
  readonly image: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
  readonly layersDone: number;
  readonly layers: number;
};

export type PullOptions = {
  readonly store: ImageStore;
  readonly now: () => number;
  /** At the same time; absent: any number. */
  readonly maxParallel?: number;
  /** Images have been added. */
  readonly changed: () => void;
};

type Pulls = PullOptions & {
  readonly queue: PullQueue;
  readonly backOff: PullBackOff;
  readonly states: Map<string, PullState>;
};

export function createImagePulls(options: PullOptions): ImagePulls {
  const pulls: Pulls = {
    ...options,
    queue: createPullQueue(options.maxParallel),
    backOff: createPullBackOff(),
    states: new Map(),
  };
  return {
    get: (request, signal) => get(pulls, request, signal),
    pulling: () => [...pulls.states.values()],
  };
}

async function get(
  pulls: Pulls,
  request: ImageRequest,
  signal: AbortSignal,
): Promise<ImageOutcome> {
  const { image, policy, record } = request;
  let name: string;
  try {
    name = referenceText(parseReference(image));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    const problem = invalidNameProblem(image, error.message);
    record(['InspectFailed', problem.message, 'Warning']);
    return { problem };
  }
  if (policy === 'Always') return pull(pulls, request, name, signal);
  try {
    const local = await pulls.store.find(name);
    const present = local && (await prepare(pulls, local, name, signal));
    if (present !== undefined) {
      record(presentEvent(image));
      return { image: present };
    }
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    signal.throwIfAborted();
    const problem = inspectProblem(image, runtimeErrorText(error));
    record(['InspectFailed', problem.message, 'Warning']);
    return { problem };
  }
  if (policy !== 'Never') return pull(pulls, request, name, signal);
  const problem = neverPullProblem(image);
  record(['ErrImageNeverPull', problem.message, 'Warning']);
  return { problem };
}

/** Undefined: it was removed meanwhile. */
async function prepare(
  { store }: Pulls,
  { id }: LocalImage,
  name: string,
  signal: AbortSignal,
): Promise<PresentImage | undefined> {
  const use = await store.use(id);
  if (use === undefined) return undefined;
  try {
    const unpacked = await store.unpack(use.image, signal);
    return { local: use.image, unpacked, name, release: use.release };
  } catch (error) {
    use.release();
    throw error;
  }
}

async function pull(
  pulls: Pulls,
  request: ImageRequest,
  name: string,
  signal: AbortSignal,
): Promise<ImageOutcome> {
  const { backOff, now } = pulls;
  const { image, podUid, record } = request;
  const key = `${podUid}_${name}`;
  const last = backOff.of(key, now());
  if (last !== undefined) {
    record(backOffEvent(image));
    return { problem: backOffProblem(image, last.problem), retryAt: last.failedAt + last.delayMs };
  }
  record(pullingEvent(image));
  try {
    const { present, times } = await pullOnce(pulls, request, name, signal);
    backOff.clear(key);
    record(pulledEvent(image, times, present.local.sizeBytes));
    return { image: present };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ImageError)) throw error;
    const message = runtimeErrorText(error);
    record(failedPullEvent(image, message));
    const failed = backOff.fail(key, { reason: 'ErrImagePull', message }, now());
    return { problem: failed.problem, retryAt: failed.failedAt + failed.delayMs };
  }
}

type Pulled = {
  readonly present: PresentImage;
  readonly times: { readonly pullMs: number; readonly wholeMs: number };
};

async function pullOnce(
  pulls: Pulls,
  { image, keyring }: ImageRequest,
  name: string,
  signal: AbortSignal,
): Promise<Pulled> {
  const { store, queue, states, now } = pulls;
  const queuedAt = now();
  const leave = await queue.enter(signal);
  const startedAt = now();
  const state = { image, doneBytes: 0, totalBytes: 0, layersDone: 0, layers: 0 };
  states.set(name, state);
  try {
    const local = await store.pull(name, {
      keyring: await keyring(),
      signal,
      onProgress: (progress) => states.set(name, { image, ...progress }),
    });
    const present = await prepare(pulls, local, name, signal);
    if (present === undefined)
      throw new ImageError('ErrImagePull', 'NotFound', 'the image was removed while it was pulled');
    return { present, times: { pullMs: now() - startedAt, wholeMs: now() - queuedAt } };
  } finally {
    states.delete(name);
    leave();
    pulls.changed();
  }
}
