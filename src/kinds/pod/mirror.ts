// Mirror pods: API objects for the static pods of a kubelet.
import type { KubeObject } from '../../meta/object.ts';

export const mirrorAnnotation = 'kubernetes.io/config.mirror';

export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}
