import type { Pod } from '../../kinds/pod/types.ts';
import type { ServicePort } from '../../kinds/service/types.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { containerPortsOf, portText, servingContainers } from '../container-ports.ts';
import { mentionsPort } from '../listening.ts';
import { listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const targetPortUndeclared: ServiceCheck = {
  code: 'FL0204',
  severity: 'warning',
  title: 'No container declares the target port',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const pods = subject.pods().slice(0, maxPods);
    // A container without declared ports may listen on any.
    const declaresPorts = (pod: Pod): boolean =>
      servingContainers(pod).every(({ ports = [] }) => ports.length > 0);
    const [first] = pods;
    if (first === undefined || !pods.every(declaresPorts)) return [];
    return (subject.service.spec.ports ?? []).flatMap((port, at) => {
      const { targetPort } = port;
      if (typeof targetPort !== 'number') return [];
      const isUsed = pods.some(
        (pod) =>
          containerPortsOf(pod).some(({ number }) => number === targetPort) ||
          mentionsPort(pod, targetPort),
      );
      return isUsed ? [] : [symptom({ subject, port, at, pod: first })];
    });
  },
};

/** Pods of one Service have few templates. */
const maxPods = 50;

type Undeclared = {
  readonly subject: ServiceSubject;
  readonly port: ServicePort;
  readonly at: number;
  readonly pod: Pod;
};

function symptom({ subject, port, at, pod }: Undeclared): Symptom {
  const protocol = port.protocol ?? 'TCP';
  const all = containerPortsOf(pod);
  const declared = all.filter((one) => one.protocol === protocol);
  const [only] = declared;
  const better =
    declared.find(({ number }) => number === port.port) ??
    (declared.length === 1 ? only : undefined);
  const target = objectName(subject.service);
  return {
    message: `Port ${port.port} leads to ${port.targetPort}/${protocol}, where no container listens as far as the pods say: they declare ${listText(all.map(portText))}`,
    evidence: [
      { object: target, field: `spec.ports[${at}].targetPort`, value: String(port.targetPort) },
      {
        object: objectName(pod),
        field: 'spec.containers[*].ports',
        value: listText(all.map(portText)),
      },
    ],
    ...(better === undefined
      ? {}
      : {
          fix: {
            sentence: `Lead the port to ${portText(better)}`,
            patch: {
              target,
              type: 'strategic',
              body: { spec: { ports: [{ port: port.port, targetPort: better.number }] } },
            },
          },
        }),
  };
}
