import type { Service } from '../../kinds/service/types.ts';
import type { ClusterCheck } from '../check.ts';
import { serviceNamed } from '../cluster-names.ts';
import { namedHosts } from '../named-hosts.ts';
import { listText, objectName } from '../object-names.ts';

export const clientPortMissing: ClusterCheck = {
  code: 'FL0210',
  severity: 'warning',
  title: 'A pod connects to a port that the Service does not have',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    return namedHosts(cluster).flatMap(({ pod, host, port, field }) => {
      const service = serviceNamed(cluster, host, pod.metadata.namespace ?? '')?.service;
      if (port === undefined || service === undefined || !translates(service)) return [];
      const ports = service.spec.ports ?? [];
      if (ports.some((one) => one.port === port)) return [];
      const meant = ports.find(({ targetPort }) => targetPort === port);
      const better = meant ?? (ports.length === 1 ? ports[0] : undefined);
      const has = listText(ports.map((one) => String(one.port)));
      const hint = meant === undefined ? '' : `; ${port} is its target port`;
      return [
        {
          about: objectName(pod),
          message: `The pod connects to ${host}:${port}, and Service "${service.metadata.name}" has port ${has}${hint}`,
          evidence: [
            { object: objectName(pod), field, value: `${host}:${port}` },
            { object: objectName(service), field: 'spec.ports[*].port', value: has },
          ],
          fix: {
            sentence:
              better === undefined
                ? 'Use a port of the Service'
                : `Write ${host}:${better.port}, or let the Service have port ${port}`,
          },
        },
      ];
    });
  },
};

/** Clients of the others connect to pods and hosts themselves, where any port may be open. */
const translates = ({ spec }: Service): boolean =>
  spec.type !== 'ExternalName' && spec.clusterIP !== 'None' && (spec.ports ?? []).length > 0;
