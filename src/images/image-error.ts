// Why an image cannot be had: the reasons that a kubelet reports, with the words of its container runtime.

/**
 * The reasons of a kubelet (pkg/kubelet/images/types.go) that pulling can end with. The caller adds its own: ErrImageNeverPull, ImagePullBackOff.
 * A registry that cannot be reached is ErrImagePull, as with containerd; RegistryUnavailable is what some other runtimes say.
 */
export type ImageErrorReason =
  | 'InvalidImageName' // the name cannot be parsed
  | 'ErrImagePull'; // everything else

/** The code of the call in which a container runtime reports it: `rpc error: code = NotFound desc = ...` */
export type ImageErrorCode =
  | 'NotFound' // no such image, or not for this platform
  | 'PermissionDenied' // the registry refuses these credentials, or wants some
  | 'InvalidArgument' // the name, or what an archive contains
  | 'FailedPrecondition' // what was received is not what its digest promises
  | 'ResourceExhausted' // a limit, a full disk, or 429
  | 'Unavailable' // the registry
  | 'Aborted' // the caller's signal, or a closed store
  | 'InUse' // remove(): a container uses the image
  | 'Unknown';

export class ImageError extends Error {
  readonly reason: ImageErrorReason;
  readonly code: ImageErrorCode;

  constructor(
    reason: ImageErrorReason,
    code: ImageErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ImageError';
    this.reason = reason;
    this.code = code;
  }
}

export function isImageError(error: unknown, code?: ImageErrorCode): error is ImageError {
  return error instanceof ImageError && (code === undefined || error.code === code);
}
