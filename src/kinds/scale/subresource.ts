import type { KubeObject } from '../../meta/object.ts';
import type { SubresourceDefinition } from '../definition.ts';

/** The subresource `scale` of a workload. */
export const scaleSubresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'],
} as const satisfies SubresourceDefinition<KubeObject>;
