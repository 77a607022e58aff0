// The ports of a Service as the proxy of a node sees them, by the proxy's own code.

import { zoneLabel } from '../meta/well-known-labels.ts';
import { endpointsByPort } from '../proxy/model/endpoints.ts';
import { type SelectedEndpoints, selectEndpoints } from '../proxy/model/select-endpoints.ts';
import { type PortRequest, servicePorts } from '../proxy/model/service-ports.ts';
import type { Family } from '../proxy/model/state.ts';
import { createTrimmer, portId } from '../proxy/model/trim-objects.ts';
import type { ServiceSubject } from './subject.ts';

export type SeenPort = {
  readonly request: PortRequest;
  readonly family: Family;
} & SelectedEndpoints;

const families: readonly Family[] = ['IPv4', 'IPv6'];

/** Empty for Services that proxies leave alone. */
export function portsSeenBy(subject: ServiceSubject, nodeName: string): readonly SeenPort[] {
  const zone = subject.index.node(nodeName)?.metadata.labels?.[zoneLabel] ?? '';
  const { slice } = createTrimmer();
  return families.flatMap((family) => {
    const requests = servicePorts(subject.service, { family, allowsExternalIPs: true });
    if (requests.length === 0) return [];
    const entries = endpointsByPort(subject.slices().map(slice), { family, nodeName });
    return requests.map((request) => ({
      request,
      family,
      ...selectEndpoints(entries.get(portId(request.portName, request.protocol)) ?? [], request, {
        nodeName,
        zone,
      }),
    }));
  });
}
