import type { Service } from '../../kinds/service/types.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { type IngressUse, ingressUses } from '../ingress-uses.ts';
import { listText, objectName } from '../object-names.ts';

export const ingressPortMissing: ClusterCheck = {
  code: 'FL0611',
  severity: 'error',
  title: 'An Ingress names a port that its Service does not have',
  scope: 'cluster',
  needs: ['services', 'ingresses'],
  find(cluster) {
    return ingressUses(cluster).flatMap((use) => {
      const service = cluster.index.service(use.namespace, use.service);
      if (service === undefined || service.spec.type === 'ExternalName') return [];
      return hasPort(service, use) ? [] : [symptom(service, use)];
    });
  },
};

function hasPort({ spec }: Service, { portName, portNumber }: IngressUse): boolean {
  return (spec.ports ?? []).some(({ name = '', port }) =>
    portName === '' ? port === portNumber : name === portName,
  );
}

function symptom(service: Service, use: IngressUse): ClusterSymptom {
  const { ingress, field, portName, portNumber } = use;
  const ports = service.spec.ports ?? [];
  const [only] = ports;
  const isTarget = ports.find(({ targetPort }) => targetPort === (portName || portNumber));
  const better = isTarget ?? (ports.length === 1 ? only : undefined);
  const wanted = portName === '' ? String(portNumber) : `"${portName}"`;
  const has = ports.map(({ name, port }) => (name === undefined ? `${port}` : `${name} (${port})`));
  const hint = isTarget === undefined ? '' : `; ${wanted} is the target port, not the port`;
  return {
    about: objectName(ingress),
    message: `Requests for ${use.requests} fail: Service "${use.service}" has no port ${wanted}, it has ${listText(has) || 'none'}${hint}`,
    evidence: [
      {
        object: objectName(ingress),
        field: `${field}.port`,
        value: portName || String(portNumber),
      },
      { object: objectName(service), field: 'spec.ports', value: listText(has) || '(none)' },
    ],
    fix: {
      sentence: better === undefined ? 'Name a port of the Service' : `Name port ${better.port}`,
    },
  };
}
