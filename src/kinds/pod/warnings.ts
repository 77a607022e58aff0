// What is allowed in a pod but seldom meant.
import { dns1123Label } from '../../meta/names.ts';
import type { Container } from './container.ts';
import type { PodSpec } from './pod-spec.ts';
import type { Pod } from './types.ts';

export function podWarnings(pod: Pod): readonly string[] {
  const wrong = dns1123Label(pod.metadata.name ?? '');
  const name =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(pod.metadata.name && wrong.length > 0 ? [`${name}: [${wrong.join(' ')}]`] : []),
    ...podSpecWarnings(pod.spec, 'spec'),
  ];
}

export function podSpecWarnings(spec: PodSpec, field: string): readonly string[] {
  return [
    ...(spec.initContainers ?? []).flatMap((container, index) =>
      containerWarnings(container, `${field}.initContainers[${index}]`),
    ),
    ...(spec.containers ?? []).flatMap((container, index) =>
      containerWarnings(container, `${field}.containers[${index}]`),
    ),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
  ];
}

function containerWarnings(container: Container, field: string): readonly string[] {
  return [...repeatedVariables(container, field), ...repeatedPorts(container, field)];
}

function repeatedVariables({ env = [] }: Container, field: string): readonly string[] {
  const values = new Map<string, string>();
  return env.flatMap(({ name, value = '' }, index) => {
    const earlier = values.get(name);
    values.set(name, value);
    // A value that builds on the earlier one hides nothing.
    if (earlier === undefined || value.includes(`$(${name})`)) return [];
    return [
      `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ];
  });
}

function repeatedPorts({ ports = [] }: Container, field: string): readonly string[] {
  const seen = new Map<string, number>();
  return ports.flatMap((port, index) => {
    const key = JSON.stringify([port.containerPort, port.protocol, port.hostPort, port.hostIP]);
    const earlier = seen.get(key);
    if (earlier !== undefined) {
      return [
        `${field}.ports[${index}]: duplicate port definition with ${field}.ports[${earlier}]`,
      ];
    }
    seen.set(key, index);
    return [];
  });
}
