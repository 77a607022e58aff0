import type { ServiceCheck } from '../check.ts';
import { containerPortsOf } from '../container-ports.ts';
import { listText, objectName } from '../object-names.ts';

export const targetPortOtherProtocol: ServiceCheck = {
  code: 'FL0205',
  severity: 'warning',
  title: 'The target port is declared for another protocol',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const [pod] = subject.pods();
    if (pod === undefined) return [];
    return (subject.service.spec.ports ?? []).flatMap((port, at) => {
      const protocol = port.protocol ?? 'TCP';
      const same = containerPortsOf(pod).filter(({ number }) => number === port.targetPort);
      if (same.length === 0 || same.some((one) => one.protocol === protocol)) return [];
      const protocols = listText(same.map((one) => one.protocol));
      const target = objectName(subject.service);
      return [
        {
          message: `Port ${port.port}/${protocol} leads to ${port.targetPort}/${protocol}, but the pods declare ${port.targetPort} for ${protocols}`,
          evidence: [
            { object: target, field: `spec.ports[${at}].protocol`, value: protocol },
            {
              object: objectName(pod),
              field: `spec.containers[*].ports[${port.targetPort}].protocol`,
              value: protocols,
            },
          ],
          fix: {
            sentence: `Give the port of the Service the protocol ${protocols}, or declare ${port.targetPort}/${protocol} if the program listens there`,
          },
        },
      ];
    });
  },
};
