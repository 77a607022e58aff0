// Why a layer cannot be unpacked; becomes an ImageError where the image is known.

export type UnpackReason = 'invalid' | 'limit' | 'full';

export class UnpackError extends Error {
  readonly reason: UnpackReason;

  constructor(reason: UnpackReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnpackError';
    this.reason = reason;
  }
}
