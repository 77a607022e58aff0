import { canAnswer, targetPortNumber } from '../../kinds/service/backends.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const targetPortDiffers: ServiceCheck = {
  code: 'FL0203',
  severity: 'info',
  title: 'The named target port has several numbers',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const pods = subject.pods().filter((pod) => canAnswer(pod, false));
    return (subject.service.spec.ports ?? []).flatMap((port) => {
      if (typeof port.targetPort === 'number') return [];
      const examples = new Map(pods.map((pod) => [targetPortNumber(pod, port), pod]));
      examples.delete(undefined);
      if (examples.size < 2) return [];
      const numbers = [...examples.keys()].map(String).sort();
      return [
        {
          message: `Port ${port.port} leads to different numbers at different pods, because "${port.targetPort}" is ${listText(numbers)} there`,
          evidence: [...examples].slice(0, 4).map(([number, pod]) => ({
            object: objectName(pod),
            field: `container port "${port.targetPort}"`,
            value: String(number),
          })),
        },
      ];
    });
  },
};
