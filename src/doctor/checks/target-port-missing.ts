import type { Pod } from '../../kinds/pod/types.ts';
import { targetPortNumber } from '../../kinds/service/backends.ts';
import type { ServicePort } from '../../kinds/service/types.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { containerPortsOf, portText } from '../container-ports.ts';
import { similarWord } from '../edit-distance.ts';
import { listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const targetPortMissing: ServiceCheck = {
  code: 'FL0201',
  severity: 'error',
  title: 'No pod has the named target port',
  scope: 'service',
  needs: ['services', 'pods'],
  explains: ['FL02', 'FL03', 'FL04'],
  find(subject) {
    const pods = subject.pods();
    if (pods.length === 0) return [];
    return (subject.service.spec.ports ?? []).flatMap((port, at) => {
      if (typeof port.targetPort === 'number') return [];
      if (pods.some((pod) => targetPortNumber(pod, port) !== undefined)) return [];
      return [symptom({ subject, port, at, pod: pods[0] as Pod })];
    });
  },
};

type Missing = {
  readonly subject: ServiceSubject;
  readonly port: ServicePort;
  readonly at: number;
  readonly pod: Pod;
};

function symptom({ subject, port, at, pod }: Missing): Symptom {
  const wanted = String(port.targetPort);
  const protocol = port.protocol ?? 'TCP';
  const declared = containerPortsOf(pod);
  const otherProtocol = declared.find(({ name }) => name === wanted);
  const sameProtocol = declared.filter((one) => one.protocol === protocol);
  const names = sameProtocol.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const [onlyOne] = sameProtocol;
  const better =
    similarWord(wanted, names) ??
    (sameProtocol.length === 1 ? (onlyOne?.name ?? onlyOne?.number) : undefined);
  const has =
    otherProtocol === undefined
      ? declared.length === 0
        ? 'the pods declare no ports'
        : `the pods have ${listText(declared.map(portText))}`
      : `the pods have it as ${otherProtocol.protocol}`;
  const target = objectName(subject.service);
  return {
    message: `Port ${port.port} leads to the ${protocol} port named "${wanted}", which no pod has: ${has}`,
    evidence: [
      { object: target, field: `spec.ports[${at}].targetPort`, value: wanted },
      {
        object: objectName(pod),
        field: 'spec.containers[*].ports',
        value: listText(declared.map(portText)) || '(none)',
      },
    ],
    ...(better === undefined || otherProtocol !== undefined
      ? {}
      : {
          fix: {
            sentence: `Lead the port to ${typeof better === 'number' ? better : `"${better}"`}`,
            patch: {
              target,
              type: 'strategic',
              body: { spec: { ports: [{ port: port.port, targetPort: better }] } },
            },
          },
        }),
  };
}
