import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { ReplicationController } from './types.ts';

/** Labels and selector default to the template's labels. */
export function defaultReplicationController(
  controller: ReplicationController,
): ReplicationController {
  const { metadata, spec } = controller;
  const { template } = spec;
  const labels = template?.metadata.labels;
  return {
    ...controller,
    metadata:
      labels === undefined || metadata.labels !== undefined ? metadata : { ...metadata, labels },
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      ...(labels === undefined || spec.selector !== undefined ? {} : { selector: labels }),
      ...(template === undefined ? {} : { template: defaultPodTemplate(template) }),
    },
  };
}
