import { isInRange } from '../../ip/cidr.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const endpointIsNothing: ServiceCheck = {
  code: 'FL0705',
  severity: 'warning',
  title: 'A hand-made endpoint is a pod address that no pod has',
  scope: 'service',
  needs: ['services', 'endpointSlices', 'pods', 'nodes'],
  isLiveOnly: true,
  find({ service, index, settings, hasSelector, endpoints }) {
    if (hasSelector) return [];
    const nodes = index.snapshot.objects.nodes.flatMap(({ status }) =>
      (status.addresses ?? []).map(({ address }) => address),
    );
    const gone = endpoints().filter(
      ({ address }) =>
        settings.podRanges.value.some((range) => isInRange(address, range)) &&
        index.podsAt(address).length === 0 &&
        !nodes.includes(address),
    );
    const [first] = gone;
    if (first === undefined) return [];
    const addresses = listText(gone.map(({ address }) => address));
    const isAll = gone.length === endpoints().length;
    return [
      {
        severity: isAll ? 'error' : 'warning',
        message: `No pod has ${addresses}, although the address lies in the range of pods: addresses of pods change, and an endpoint that was written by hand does not follow`,
        evidence: [
          { object: objectName(first.slice), field: 'endpoints[*].addresses', value: addresses },
          { object: objectName(service), field: 'spec.selector', value: '(none)' },
        ],
        fix: { sentence: 'Select the pods by their labels instead' },
      },
    ];
  },
};
