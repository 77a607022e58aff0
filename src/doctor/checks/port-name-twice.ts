import type { ServiceCheck } from '../check.ts';
import { containerPortsOf } from '../container-ports.ts';
import { listText, objectName } from '../object-names.ts';

export const portNameTwice: ServiceCheck = {
  code: 'FL0207',
  severity: 'warning',
  title: 'Two containers of a pod have a port of that name',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const [pod] = subject.pods();
    if (pod === undefined) return [];
    return (subject.service.spec.ports ?? []).flatMap(({ port, targetPort, protocol = 'TCP' }) => {
      const same = containerPortsOf(pod).filter(
        (one) => one.name === targetPort && one.protocol === protocol,
      );
      const numbers = new Set(same.map(({ number }) => number));
      const [first] = same;
      if (first === undefined || numbers.size < 2) return [];
      const texts = same.map(({ container, number }) => `${number} in container ${container}`);
      return [
        {
          message: `Port ${port} leads to "${targetPort}", which the pods have more than once: ${listText(texts)}; the first one counts`,
          evidence: [
            {
              object: objectName(pod),
              field: `spec.containers[*].ports[${targetPort}]`,
              value: texts.join(', '),
            },
          ],
          fix: { sentence: 'Give the ports of the containers different names' },
        },
      ];
    });
  },
};
