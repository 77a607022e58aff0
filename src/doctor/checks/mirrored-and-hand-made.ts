import { skipMirrorLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { isHandMade, isMirrored } from '../hand-made-slices.ts';
import { objectName } from '../object-names.ts';

export const mirroredAndHandMade: ServiceCheck = {
  code: 'FL0707',
  severity: 'warning',
  title: 'Endpoints and EndpointSlices are both written by hand',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find({ namespace, name, hasSelector, slices }) {
    if (hasSelector) return [];
    const mirrored = slices().find(isMirrored);
    const handMade = slices().find(isHandMade);
    // The API servers write both for themselves.
    if (mirrored === undefined || handMade === undefined) return [];
    const target = { kind: 'Endpoints', namespace, name };
    return [
      {
        message: `The Service has Endpoints, which are mirrored as slices, and the hand-made EndpointSlice "${handMade.metadata.name}": proxies use the endpoints of both`,
        evidence: [
          { object: target, field: 'metadata.name', value: name },
          {
            object: objectName(handMade),
            field: 'metadata.name',
            value: handMade.metadata.name ?? '',
          },
        ],
        fix: {
          sentence:
            'Keep one of them: delete the Endpoints, or label them so that they are not mirrored',
          patch: {
            target,
            type: 'merge',
            body: {
              metadata: { labels: { [skipMirrorLabel]: 'true' } },
            },
          },
        },
      },
    ];
  },
};
