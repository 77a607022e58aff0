import type { KubeObject } from '../../meta/object.ts';
import type { SubresourceDefinition } from '../definition.ts';

/** The path at which a workload shows and takes its size. */
export const scaleSubresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'],
} as const satisfies SubresourceDefinition<KubeObject>;
