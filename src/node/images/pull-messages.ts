// What a kubelet says about images. Upstream: pkg/kubelet/images/image_manager.go.
import type { ImageError } from '../../images/image-error.ts';
import { goQuote } from '../../schema/go-quote.ts';

/** Why a container waits for its image: reason and message of its status. */
export type ImageProblem = {
  readonly reason:
    | 'ErrImagePull'
    | 'ImagePullBackOff'
    | 'ErrImageNeverPull'
    | 'InvalidImageName'
    | 'ImageInspectError';
  readonly message: string;
};

/** Reason, message and type of an event. */
export type ImageEvent = readonly [string, string, ('Normal' | 'Warning')?];

export const presentEvent = (image: string): ImageEvent => [
  'Pulled',
  `Container image ${goQuote(image)} already present on machine and can be accessed by the pod`,
];

export const pullingEvent = (image: string): ImageEvent => [
  'Pulling',
  `Pulling image ${goQuote(image)}`,
];

export type PullTimes = {
  readonly pullMs: number;
  /** With the time in the queue. */
  readonly wholeMs: number;
};

export const pulledEvent = (
  image: string,
  { pullMs, wholeMs }: PullTimes,
  sizeBytes: number,
): ImageEvent => [
  'Pulled',
  `Successfully pulled image ${goQuote(image)} in ${goDuration(pullMs)} (${goDuration(wholeMs)} including waiting). Image size: ${sizeBytes} bytes.`,
];

/** As the kubelet shows an error of its container runtime. */
export const runtimeErrorText = ({ code, message }: ImageError): string =>
  `rpc error: code = ${code} desc = ${message}`;

export const failedPullEvent = (image: string, problem: string): ImageEvent => [
  'Failed',
  `Failed to pull image ${goQuote(image)}: ${problem}`,
  'Warning',
];

export const backOffEvent = (image: string): ImageEvent => [
  'BackOff',
  `Back-off pulling image ${goQuote(image)}`,
];

export const backOffProblem = (image: string, last: ImageProblem): ImageProblem => ({
  reason: 'ImagePullBackOff',
  message: `Back-off pulling image ${goQuote(image)}: ${last.reason}: ${last.message}`,
});

export const neverPullProblem = (image: string): ImageProblem => ({
  reason: 'ErrImageNeverPull',
  message: `Container image ${goQuote(image)} is not present with pull policy of Never`,
});

export const invalidNameProblem = (image: string, why: string): ImageProblem => ({
  reason: 'InvalidImageName',
  message: `Failed to apply default image tag ${goQuote(image)}: ${why}`,
});

export const inspectProblem = (image: string, why: string): ImageProblem => ({
  reason: 'ImageInspectError',
  message: `Failed to inspect image ${goQuote(image)}: ${why}`,
});

const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

/** As Go prints a duration in whole milliseconds: `350ms`, `1.2s`, `2m0.5s`. */
export function goDuration(ms: number): string {
  const whole = Math.max(Math.trunc(ms), 0);
  if (whole === 0) return '0s';
  if (whole < secondMs) return `${whole}ms`;
  const hours = Math.floor(whole / hourMs);
  const minutes = Math.floor((whole % hourMs) / minuteMs);
  const seconds = (whole % minuteMs) / secondMs;
  return `${hours > 0 ? `${hours}h` : ''}${hours + minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}
