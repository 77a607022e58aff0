import { headlessLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { isHandMade } from '../hand-made-slices.ts';
import { countText, listText, objectName } from '../object-names.ts';

export const handMadeBesideController: ServiceCheck = {
  code: 'FL0706',
  severity: 'warning',
  title: 'Hand-made endpoints beside those of the selector',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find({ hasSelector, slices }) {
    if (!hasSelector) return [];
    const own = slices().filter(
      (slice) => isHandMade(slice) && slice.metadata.labels?.[headlessLabel] === undefined,
    );
    const addresses = own.flatMap(({ endpoints }) =>
      (endpoints ?? []).map(({ addresses: all }) => all?.[0] ?? ''),
    );
    if (addresses.length === 0) return [];
    const names = listText(own.map(({ metadata }) => `"${metadata.name}"`));
    return [
      {
        message: `EndpointSlice ${names} was not made by the controller and adds ${countText(addresses.length, 'endpoint')} to those that the selector matches: ${listText(addresses)}`,
        evidence: own.slice(0, 3).map((slice) => ({
          object: objectName(slice),
          field: 'metadata.labels[endpointslice.kubernetes.io/managed-by]',
          value: '(none)',
        })),
        fix: { sentence: 'Remove the slice, or remove the selector and list all endpoints' },
      },
    ];
  },
};
