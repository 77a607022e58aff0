import { isInRange } from '../../ip/cidr.ts';
import { objectKey } from '../../meta/object.ts';
import { serviceRanges } from '../address-owner.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';
import type { SubjectEndpoint } from '../subject.ts';

export const endpointIsClusterIP: ServiceCheck = {
  code: 'FL0704',
  severity: 'error',
  title: 'An endpoint is the cluster IP of a Service',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find({ service, index, cluster, hasSelector, endpoints }) {
    if (hasSelector) return [];
    // Of manifests the ranges are made up.
    const ranges = cluster.isLive ? serviceRanges(index) : [];
    const ownerOf = ({ address }: SubjectEndpoint): string | undefined => {
      const other = index
        .servicesAt(address)
        .find(({ spec }) => spec.clusterIPs?.includes(address));
      if (other !== undefined) return `the cluster IP of Service ${objectKey(other.metadata)}`;
      const range = ranges.find((one) => isInRange(address, one));
      return range === undefined ? undefined : `in the range ${range} of cluster IPs`;
    };
    return endpoints().flatMap((endpoint) => {
      const owner = ownerOf(endpoint);
      if (owner === undefined) return [];
      return [
        {
          message: `Endpoint ${endpoint.address} is ${owner}: proxies do not translate a connection twice, so connections to the Service get no answer`,
          evidence: [
            {
              object: objectName(endpoint.slice),
              field: 'endpoints[*].addresses',
              value: endpoint.address,
            },
            { object: objectName(service), field: 'spec.selector', value: '(none)' },
          ],
          fix: {
            sentence:
              'List the addresses behind that Service, or make this one an ExternalName of it',
          },
        },
      ];
    });
  },
};
