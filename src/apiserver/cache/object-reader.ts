// Reading live objects from memory, for the parts of the server that decide with them.
import type { KubeObject } from '../../meta/object.ts';

export type ObjectReader = {
  readonly get: (groupResource: string, namespace: string, name: string) => KubeObject | undefined;
  readonly list: (groupResource: string, namespace?: string) => readonly KubeObject[];
  /** Changes whenever an object of the resource changed: for keeping an index only as long as it is right. */
  readonly revision: (groupResource: string) => number;
};
