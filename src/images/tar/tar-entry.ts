// What a tar file says about one entry.

export type TarKind = 'file' | 'link' | 'symlink' | 'character' | 'block' | 'directory' | 'fifo';

export type TarEntry = {
  readonly kind: TarKind;
  /** Bytes as latin1, as it stands in the file: it may be absolute, or contain `..`. */
  readonly name: string;
  /** Of links; bytes as latin1. */
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970, with a fraction. */
  readonly mtime: number;
  /** Of the content that follows. */
  readonly size: number;
  readonly device: { readonly major: number; readonly minor: number };
  readonly attributes: ReadonlyMap<string, Buffer>;
};

/** The file is not a tar file, or contains what is not supported. */
export class TarError extends Error {
  override readonly name = 'TarError';
}
