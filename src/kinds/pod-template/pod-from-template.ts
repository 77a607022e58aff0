// The pod that a workload makes of its template.
import type { KubeObject } from '../../meta/object.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import type { Pod } from '../pod/types.ts';
import type { PodTemplateSpec } from './types.ts';

/** The API server generates the name. */
export function podFromTemplate(owner: KubeObject, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata;
  const { namespace, name = '' } = owner.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      generateName: `${name}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    spec: template.spec,
    status: {},
  };
}
