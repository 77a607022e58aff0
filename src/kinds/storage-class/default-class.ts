// Which class a claim without a class gets. Upstream: pkg/volume/util/storageclass.go.
import {
  betaDefaultClassAnnotation,
  defaultClassAnnotation,
} from '../../meta/well-known-annotations.ts';
import type { StorageClass } from './types.ts';

export const isDefaultClass = ({ metadata }: StorageClass): boolean =>
  metadata.annotations?.[defaultClassAnnotation] === 'true' ||
  metadata.annotations?.[betaDefaultClassAnnotation] === 'true';

/** The newest of several; of equally old ones the first by name. */
export function defaultClass(classes: Iterable<StorageClass>): StorageClass | undefined {
  let best: StorageClass | undefined;
  for (const one of classes) {
    if (isDefaultClass(one) && (best === undefined || isPreferred(one, best))) best = one;
  }
  return best;
}

function isPreferred(a: StorageClass, b: StorageClass): boolean {
  const { creationTimestamp: x = '', name: n = '' } = a.metadata;
  const { creationTimestamp: y = '', name: m = '' } = b.metadata;
  return x === y ? n < m : x > y;
}
