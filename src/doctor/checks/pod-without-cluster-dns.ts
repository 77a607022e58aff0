import type { Pod } from '../../kinds/pod/types.ts';
import type { ClusterCheck } from '../check.ts';
import { serviceNamed } from '../cluster-names.ts';
import { namedHosts } from '../named-hosts.ts';
import { objectName } from '../object-names.ts';

export const podWithoutClusterDns: ClusterCheck = {
  code: 'FL0509',
  severity: 'warning',
  title: 'A pod names a Service and does not use the DNS of the cluster',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    const servers = cluster.settings.dnsAddresses.value;
    return namedHosts(cluster).flatMap(({ pod, host, field }) => {
      const { dnsPolicy = 'ClusterFirst' } = pod.spec;
      const named = serviceNamed(cluster, host, pod.metadata.namespace ?? '');
      if (named?.service === undefined || usesClusterDns(pod, servers)) return [];
      const why =
        pod.spec.hostNetwork === true && dnsPolicy === 'ClusterFirst'
          ? 'it is on the network of its node, where dnsPolicy ClusterFirst means the DNS of the node'
          : `its dnsPolicy is ${dnsPolicy}`;
      return [
        {
          about: objectName(pod),
          message: `The pod connects to Service "${named.name}" by name, but does not use the cluster's DNS: ${why}`,
          evidence: [
            { object: objectName(pod), field: 'spec.dnsPolicy', value: dnsPolicy },
            { object: objectName(pod), field, value: host },
          ],
          fix: { sentence: 'Set dnsPolicy to ClusterFirstWithHostNet' },
        },
      ];
    });
  },
};

function usesClusterDns({ spec }: Pod, servers: readonly string[]): boolean {
  const { dnsPolicy = 'ClusterFirst', hostNetwork = false, dnsConfig } = spec;
  if (dnsConfig?.nameservers?.some((one) => servers.includes(one)) === true) return true;
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
}
