// Mirror pods: what a node shows of a pod that it runs from a file of its own.
import type { KubeObject } from '../../meta/object.ts';

export const mirrorAnnotation = 'kubernetes.io/config.mirror';

export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}
