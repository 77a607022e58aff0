import type { Container } from '../../kinds/pod/container.ts';
import type { Probe } from '../../kinds/pod/probe.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { servingContainers } from '../container-ports.ts';
import { similarWord } from '../edit-distance.ts';
import { listText, objectName } from '../object-names.ts';

export const probePortMissing: ServiceCheck = {
  code: 'FL0311',
  severity: 'error',
  title: 'A probe names a port that the container does not have',
  scope: 'service',
  needs: ['services', 'pods'],
  explains: ['FL0301', 'FL0307'],
  find(subject) {
    const [pod] = subject.pods();
    if (pod === undefined) return [];
    return servingContainers(pod).flatMap((container) =>
      probesOf(container).flatMap((probe) => symptom(pod, container, probe)),
    );
  },
};

type NamedProbe = readonly [kind: string, probe: Probe | undefined];

function symptom(pod: Pod, container: Container, [kind, probe]: NamedProbe): readonly Symptom[] {
  const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
  // Digits count as a number where no port has that name.
  if (typeof port !== 'string' || /^\d+$/.test(port)) return [];
  const names = (container.ports ?? []).flatMap(({ name }) => (name ? [name] : []));
  if (names.includes(port)) return [];
  const better = similarWord(port, names) ?? (names.length === 1 ? names[0] : undefined);
  const has = names.length === 0 ? 'no named port' : listText(names);
  return [
    {
      message: `The ${kind} of container ${container.name} uses port "${port}", which the container does not have (${has}), so it never succeeds`,
      evidence: [
        {
          object: objectName(pod),
          field: `spec.containers[${container.name}].${kind}`,
          value: `port: ${port}`,
        },
      ],
      fix: {
        sentence:
          better === undefined
            ? 'Declare the port in the container, or use its number in the probe'
            : `Use port "${better}" in the probe`,
      },
    },
  ];
}

function probesOf(container: Container): readonly NamedProbe[] {
  return [
    ['readinessProbe', container.readinessProbe],
    ['startupProbe', container.startupProbe],
    ['livenessProbe', container.livenessProbe],
  ];
}
