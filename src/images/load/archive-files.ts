// The files of an archive of images, wherever they are.
import { ImageError } from '../image-error.ts';

export type ArchiveFiles = {
  /** Of a small file; undefined if it is not there. Throws ImageError for a large one. */
  readonly text: (path: string) => Promise<string | undefined>;
  /** The file becomes a blob of the store; with a digest it is verified. Undefined if it is not there. */
  readonly take: (path: string, expected?: TakenBlob) => Promise<TakenBlob | undefined>;
  readonly close: () => Promise<void>;
};

export type TakenBlob = { readonly digest: string; readonly size: number };

export const archiveError = (message: string, options?: ErrorOptions): ImageError =>
  new ImageError('ErrImagePull', 'InvalidArgument', message, options);
