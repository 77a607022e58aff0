import { isInRange } from '../../ip/cidr.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const nodePortNowhere: ServiceCheck = {
  code: 'FL0605',
  severity: 'error',
  title: 'Node ports answer on no address of any node',
  scope: 'service',
  needs: ['services', 'nodes'],
  find({ service, settings, index }) {
    const { value: ranges, source } = settings.nodePortAddresses;
    const nodePorts = (service.spec.ports ?? []).flatMap(({ nodePort = 0 }) => nodePort || []);
    if (service.spec.type !== 'NodePort' || nodePorts.length === 0) return [];
    const addresses = index.snapshot.objects.nodes.flatMap(({ status }) =>
      (status.addresses ?? []).flatMap(({ type, address }) => (type.endsWith('IP') ? address : [])),
    );
    if (ranges.length === 0 || ranges[0] === 'primary' || addresses.length === 0) return [];
    if (addresses.some((ip) => ranges.some((range) => isInRange(ip, range)))) return [];
    return [
      {
        message: `Node port ${listText(nodePorts.map(String))} answers on no node: proxies serve node ports on ${listText(ranges)} only, and the nodes have ${listText(addresses)}`,
        evidence: [
          { object: objectName(service), field: 'spec.type', value: 'NodePort' },
          {
            object: { kind: 'Proxy', name: source },
            field: 'nodePortAddresses',
            value: ranges.join(','),
          },
        ],
        fix: { sentence: 'Change --nodeport-addresses of the proxies to a range of the nodes' },
      },
    ];
  },
};
