// Warnings about containers.
import { containerSeccompPrefix } from '../../meta/well-known-annotations.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { parseQuantity } from '../../schema/quantity.ts';
import type { Container, ContainerPort } from './container.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ResourceList } from './resources.ts';

type Placed = {
  readonly container: Pick<Container, 'name' | 'env' | 'ports' | 'resources' | 'securityContext'>;
  readonly field: string;
};
type Annotations = Readonly<Record<string, string>>;

/** `field` is the path of the pod's spec, `annotationsField` that of its annotations. */
export function containerWarnings(
  spec: PodSpec,
  field: string,
  annotations: Annotations,
  annotationsField: string,
): readonly string[] {
  const containers = placedContainers(spec, field);
  return [
    ...containers.flatMap((placed) => [
      ...oldSeccomp(placed, annotations, annotationsField),
      ...fractionalQuantities(placed),
      ...repeatedVariables(placed),
    ]),
    ...repeatedPorts(containers),
    ...repeatedPortNames(containers),
  ];
}

function placedContainers(spec: PodSpec, field: string): readonly Placed[] {
  const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const;
  return lists.flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({
      container,
      field: `${field}.${list}[${index}]`,
    })),
  );
}

function oldSeccomp(
  { container }: Placed,
  annotations: Annotations,
  annotationsField: string,
): readonly string[] {
  const key = `${containerSeccompPrefix}${container.name}`;
  if (container.securityContext?.seccompProfile !== undefined || !Object.hasOwn(annotations, key))
    return [];
  return [seccompWarning(`${annotationsField}[${key}]`)];
}

export const seccompWarning = (field: string): string =>
  `${field}: non-functional in v1.27+; use the "seccompProfile" field instead`;

function fractionalQuantities({ container, field }: Placed): readonly string[] {
  const { limits = {}, requests = {} } = container.resources ?? {};
  return ['memory', 'ephemeral-storage'].flatMap((resource) => [
    ...fractionalQuantity(limits, resource, `${field}.resources.limits`),
    ...fractionalQuantity(requests, resource, `${field}.resources.requests`),
  ]);
}

/** Bytes cannot be divided. */
export function fractionalQuantity(
  quantities: ResourceList,
  resource: string,
  field: string,
): readonly string[] {
  const quantity = quantities[resource];
  if (quantity === undefined || !isFractional(quantity)) return [];
  return [
    `${field}[${resource}]: fractional byte value ${goQuote(quantity)} is invalid, must be an integer`,
  ];
}

function isFractional(quantity: string): boolean {
  const { mantissa, exponent } = parseQuantity(quantity) ?? { mantissa: 0n, exponent: 0 };
  return exponent < 0 && mantissa % 10n ** BigInt(-exponent) !== 0n;
}

function repeatedVariables({ container, field }: Placed): readonly string[] {
  const seen = new Set<string>();
  return (container.env ?? []).flatMap(({ name, value = '', valueFrom }, index) => {
    const earlier = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    // A value that refers to the earlier one does not hide it.
    const builds = valueFrom === undefined && value !== reference && value.includes(reference);
    if (!earlier || builds) return [];
    return [
      `${field}.env[${index}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`,
    ];
  });
}

type PlacedPort = { readonly port: ContainerPort; readonly field: string };

const placedPorts = (containers: readonly Placed[]): readonly PlacedPort[] =>
  containers.flatMap(({ container, field }) =>
    (container.ports ?? []).map((port, index) => ({ port, field: `${field}.ports[${index}]` })),
  );

function repeatedPorts(containers: readonly Placed[]): readonly string[] {
  const seen = new Map<string, PlacedPort[]>();
  return placedPorts(containers).flatMap((placed) => {
    const { port, field } = placed;
    const key = `${port.containerPort}/${port.protocol ?? ''}`;
    const others = seen.get(key) ?? [];
    seen.set(key, [...others, placed]);
    return [
      ...(port.hostIP && !port.hostPort
        ? [`${field}: hostIP set without hostPort: ${goPort(port)}`]
        : []),
      ...others.flatMap((other) => clash(placed, other)),
    ];
  });
}

function clash({ port, field }: PlacedPort, other: PlacedPort): readonly string[] {
  const { hostPort = 0, hostIP = '' } = port;
  const { hostPort: otherPort = 0, hostIP: otherIP = '' } = other.port;
  if (hostIP === otherIP && hostPort === otherPort)
    return [`${field}: duplicate port definition with ${other.field}`];
  if (hostPort === 0 || otherPort === 0)
    return [`${field}: overlapping port definition with ${other.field}`];
  if (hostPort === otherPort && (hostIP === '') !== (otherIP === ''))
    return [`${field}: dangerously ambiguous port definition with ${other.field}`];
  return [];
}

/** As upstream prints a source. */
const goPort = ({ name = '', hostPort = 0, containerPort, protocol, hostIP }: ContainerPort) =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ''} HostIP:${hostIP ?? ''}}`;

/** Repeated port names: an error within one container, a warning across containers, where only the first can be resolved. */
function repeatedPortNames(containers: readonly Placed[]): readonly string[] {
  const seen = new Map<string, string>();
  return placedPorts(containers).flatMap(({ port: { name = '' }, field }) => {
    if (name === '') return [];
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, field);
      return [];
    }
    return [
      `${field}: duplicate port name ${goQuote(name)} with ${first}, services and probes that select ports by name will use ${first}`,
    ];
  });
}
