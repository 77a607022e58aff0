import { desiredEndpoints } from '../../controllers/endpoints/desired.ts';
import type { ServiceCheck } from '../check.ts';
import { countText } from '../object-names.ts';

export const endpointsTruncated: ServiceCheck = {
  code: 'FL0901',
  severity: 'info',
  title: 'The Endpoints object has a part of the endpoints only',
  scope: 'service',
  needs: ['services', 'pods'],
  find({ service, pods, namespace, name }) {
    const all = pods();
    if (all.length <= minPods || !desiredEndpoints(service, all).isTruncated) return [];
    return [
      {
        message: `The Service has ${countText(all.length, 'pod')}, and its Endpoints object ends at ${minPods} addresses: programs that read it instead of EndpointSlices miss the others`,
        evidence: [
          {
            object: { kind: 'Endpoints', namespace, name },
            field: 'metadata.annotations[endpoints.kubernetes.io/over-capacity]',
            value: 'truncated',
          },
        ],
        fix: { sentence: 'Let programs read EndpointSlices; proxies and DNS servers do' },
      },
    ];
  },
};

/** Fewer are never cut off. */
const minPods = 1000;
