// Reads live objects from memory, for the decisions of the server itself.
import type { KubeObject } from '../../meta/object.ts';

export type ObjectReader = {
  readonly get: (groupResource: string, namespace: string, name: string) => KubeObject | undefined;
  readonly list: (groupResource: string, namespace?: string) => readonly KubeObject[];
  /** Changes with every change of an object of the resource: to invalidate an index. */
  readonly revision: (groupResource: string) => number;
};
