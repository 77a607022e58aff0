import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { areSimilar } from '../edit-distance.ts';
import { straySlices } from '../hand-made-slices.ts';
import { objectName } from '../object-names.ts';

export const sliceWithoutLabel: ServiceCheck = {
  code: 'FL0701',
  severity: 'error',
  title: 'A hand-made EndpointSlice does not name its Service',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  explains: ['FL07'],
  find({ service, index, namespace, name, hasSelector, slices }) {
    if (hasSelector || service.spec.type === 'ExternalName' || slices().length > 0) return [];
    const slice = straySlices(index, namespace).find((one) => isMeant(one, name));
    if (slice === undefined) return [];
    const label = slice.metadata.labels?.[serviceNameLabel];
    const target = objectName(slice);
    return [
      {
        message:
          label === undefined
            ? `The Service has no endpoints, and EndpointSlice "${target.name}" lacks the label ${serviceNameLabel}, which would make it a slice of this Service`
            : `The Service has no endpoints, and EndpointSlice "${target.name}" is labelled as one of "${label}", which is not there`,
        evidence: [
          {
            object: target,
            field: `metadata.labels[${serviceNameLabel}]`,
            value: label ?? '(none)',
          },
        ],
        fix: {
          sentence: 'Label the slice with the name of the Service',
          patch: {
            target,
            type: 'merge',
            body: { metadata: { labels: { [serviceNameLabel]: name } } },
          },
        },
      },
    ];
  },
};

/** By the label, or without one by the beginning of its name. */
function isMeant({ metadata }: EndpointSlice, service: string): boolean {
  const label = metadata.labels?.[serviceNameLabel];
  if (label !== undefined) return areSimilar(label, service);
  const { name = '' } = metadata;
  return name === service || name.startsWith(`${service}-`);
}
