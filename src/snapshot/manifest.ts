// An object of a manifest, and where it stands there.
import type { KubeObject } from '../meta/object.ts';

export type Manifest = {
  /** The file, or STDIN, for messages. */
  readonly source: string;
  /** Where the document begins that has the object, from 1. */
  readonly line: number;
  /** As it was read, not decoded. */
  readonly object: KubeObject;
  /** Keys that the document has twice, in Go's words. */
  readonly duplicates: readonly string[];
};
