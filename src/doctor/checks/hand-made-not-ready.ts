import type { ServiceCheck } from '../check.ts';
import { countText, objectName } from '../object-names.ts';

export const handMadeNotReady: ServiceCheck = {
  code: 'FL0710',
  severity: 'error',
  title: 'All hand-made endpoints are marked as not ready',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find({ hasSelector, endpoints }) {
    const all = endpoints();
    const [first] = all;
    if (hasSelector || first === undefined) return [];
    if (
      all.some(({ isReady, isServing, isTerminating }) => isReady || (isServing && isTerminating))
    )
      return [];
    return [
      {
        message: `All of ${countText(all.length, 'endpoint')} are marked as not ready, and only their author can change that: connections are refused`,
        evidence: [
          {
            object: objectName(first.slice),
            field: 'endpoints[0].conditions.ready',
            value: String(first.endpoint.conditions?.ready ?? true),
          },
        ],
        fix: { sentence: 'Set conditions.ready of the endpoints that answer, or leave it out' },
      },
    ];
  },
};
