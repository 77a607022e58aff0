import { canAnswer, targetPortNumber } from '../../kinds/service/backends.ts';
import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';

export const targetPortPartlyMissing: ServiceCheck = {
  code: 'FL0202',
  severity: 'warning',
  title: 'Some pods lack the named target port',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const pods = subject.pods().filter((pod) => canAnswer(pod, false));
    return (subject.service.spec.ports ?? []).flatMap((port, at) => {
      if (typeof port.targetPort === 'number') return [];
      const lacking = pods.filter((pod) => targetPortNumber(pod, port) === undefined);
      if (lacking.length === 0 || lacking.length === pods.length) return [];
      const names = listText(lacking.map(({ metadata }) => metadata.name ?? ''));
      return [
        {
          message: `Port ${port.port} never leads to ${lacking.length} of ${countText(pods.length, 'pod')} (${names}), which have no port named "${port.targetPort}"`,
          evidence: [
            {
              object: objectName(subject.service),
              field: `spec.ports[${at}].targetPort`,
              value: String(port.targetPort),
            },
            ...lacking.slice(0, 3).map((pod) => ({
              object: objectName(pod),
              field: 'spec.containers[*].ports[*].name',
              value: '(absent)',
            })),
          ],
          fix: { sentence: 'Name the port in all templates, or narrow the selector' },
        },
      ];
    });
  },
};
