import { isReady } from '../../kinds/endpoint-slice/conditions.ts';
import type { ClusterCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const clusterDnsDown: ClusterCheck = {
  code: 'FL0511',
  severity: 'error',
  title: 'The DNS of the cluster does not answer',
  scope: 'cluster',
  needs: ['services', 'endpointSlices'],
  find({ index, settings }) {
    const [address = ''] = settings.dnsAddresses.value;
    const service = index
      .servicesAt(address)
      .find(({ spec }) => spec.clusterIPs?.includes(address));
    if (address === '' || service === undefined) return [];
    const { namespace = '', name = '' } = service.metadata;
    const slices = index.slicesOf(namespace, name);
    const hasReady = slices.some(({ endpoints }) =>
      endpoints?.some(({ conditions }) => isReady(conditions ?? {})),
    );
    if (hasReady) return [];
    return [
      {
        about: objectName(service),
        message: `No name resolves in any pod: the DNS of the cluster, ${address}, has no ready endpoint`,
        evidence: [{ object: objectName(service), field: 'endpoints that are ready', value: '0' }],
        fix: {
          sentence: `Find out why the pods behind Service ${namespace}/${name} are not ready`,
        },
      },
    ];
  },
};
