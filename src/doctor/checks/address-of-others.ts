import type { SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import { ownerLookup } from '../address-owner.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const addressOfOthers: ServiceCheck = {
  code: 'FL0602',
  severity: 'error',
  title: 'An external address belongs to something else',
  scope: 'service',
  needs: ['services', 'nodes'],
  find({ service, index, cluster }) {
    // The owners in manifests without nodes are made up.
    if (cluster.manifests?.hasMadeUpNodes === true) return [];
    const { spec, status } = service;
    const object = objectName(service);
    const named = [
      ...(spec.externalIPs ?? []).map((ip, at) => ({ ip, field: `spec.externalIPs[${at}]` })),
      ...(status?.loadBalancer?.ingress ?? []).map(({ ip = '' }, at) => ({
        ip,
        field: `status.loadBalancer.ingress[${at}].ip`,
      })),
    ];
    if (named.length === 0) return [];
    const ownerOf = ownerLookup(index);
    return named.flatMap(({ ip, field }) => {
      const why = ip === '' ? undefined : ownerOf(ip);
      if (why === undefined || isOwnNode(index, ip, field)) return [];
      return [
        {
          message: `The Service names the address ${ip}, but ${why}: kube-proxy takes the traffic to it away from its owner, Fairlead's proxy ignores it`,
          evidence: [{ object, field, value: ip }],
          ...(field.startsWith('spec')
            ? {
                fix: {
                  sentence: `Remove ${ip} from spec.externalIPs, or choose an address that nothing else uses`,
                },
              }
            : {}),
        },
      ];
    });
  },
};

/** K3s and the like report the addresses of nodes as those of the load balancer, on purpose. */
function isOwnNode({ snapshot }: SnapshotIndex, ip: string, field: string): boolean {
  if (!field.startsWith('status')) return false;
  return snapshot.objects.nodes.some(({ status }) =>
    status.addresses?.some(({ address }) => address === ip),
  );
}
