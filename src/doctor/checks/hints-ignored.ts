import { wantsSpread } from '../../controllers/endpoint-slice/topology-hints.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { lastEvent } from '../last-event.ts';
import { countText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const hintsIgnored: ServiceCheck = {
  code: 'FL0406',
  severity: 'warning',
  title: 'Topology hints have no effect',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find: (subject) => [...partlyHinted(subject), ...notHinted(subject)],
};

/** Proxies use hints only if all ready endpoints have them. */
function partlyHinted({ service, endpoints }: ServiceSubject): readonly Symptom[] {
  const ready = endpoints().filter(({ isReady }) => isReady);
  const hinted = ready.filter(({ endpoint }) => {
    const { forZones = [], forNodes = [] } = endpoint.hints ?? {};
    return forZones.length + forNodes.length > 0;
  });
  const bare = ready.find((one) => !hinted.includes(one));
  if (hinted.length === 0 || bare === undefined) return [];
  return [
    {
      message: `Only ${hinted.length} of ${countText(ready.length, 'endpoint')} have topology hints, so proxies ignore all of them and spread connections over all zones`,
      evidence: [
        {
          object: objectName(bare.slice),
          field: `endpoints[${bare.address}].hints`,
          value: '(absent)',
        },
        {
          object: objectName(service),
          field: 'spec.trafficDistribution',
          value: service.spec.trafficDistribution ?? '(absent)',
        },
      ],
      fix: {
        sentence: 'Give every endpoint a hint, or none; pods on nodes without a zone get none',
      },
    },
  ];
}

/** The controller says why it spreads nothing. */
function notHinted({ service, index }: ServiceSubject): readonly Symptom[] {
  if (!wantsSpread(service)) return [];
  const event = lastEvent(index, service, { reasons: ['TopologyAwareHintsDisabled'] });
  if (event === undefined) return [];
  return [
    {
      severity: 'info',
      message: `The topology annotation has no effect: ${event.message ?? ''}`,
      evidence: [
        {
          object: objectName(service),
          field: 'events[TopologyAwareHintsDisabled]',
          value: event.message ?? '',
        },
      ],
      fix: {
        sentence:
          'Use spec.trafficDistribution: PreferSameZone, which needs no minimum of endpoints',
      },
    },
  ];
}
