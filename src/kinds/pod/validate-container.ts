// Containers of every sort.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFoundValue,
  required,
} from '../../meta/field-error.ts';
import { portName, portNumber } from '../../meta/names.ts';
import type { Container, ContainerPort, EphemeralContainer, VolumeMount } from './container.ts';
import {
  invalidEach,
  validateChoice,
  validateDnsLabel,
  validateFilled,
  validateOptionalChoice,
} from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import { isRestartableInitContainer } from './ports.ts';
import { validateEnv, validateEnvFrom } from './validate-environment.ts';
import { validateLifecycle, validateProbes } from './validate-probes.ts';
import { validateResizePolicy, validateResources } from './validate-resources.ts';
import { validateContainerSecurity } from './validate-security.ts';
import { validateLocalPath } from './validate-volumes.ts';

const initOnly = 'may not be set for init containers without restartPolicy=Always';
const ephemeralFields = [
  'ports',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
] as const;
const initFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

type Surroundings = {
  /** Volumes that can be mounted. */
  readonly volumes: ReadonlySet<string>;
  readonly graceSeconds: number;
  /** Of the pod. */
  readonly restartPolicy: string | undefined;
};

export function validateContainers(
  spec: PodSpec,
  volumes: ReadonlySet<string>,
  field: string,
): readonly FieldError[] {
  const containers = spec.containers ?? [];
  const { restartPolicy, terminationGracePeriodSeconds: graceSeconds = 0 } = spec;
  const around = { volumes, graceSeconds, restartPolicy };
  const names = new Set<string>();
  return [
    ...validateRegular(containers, names, around, `${field}.containers`),
    ...validateInit(spec.initContainers ?? [], names, around, `${field}.initContainers`),
    ...validateEphemeral(
      spec.ephemeralContainers ?? [],
      names,
      around,
      `${field}.ephemeralContainers`,
    ),
    ...(spec.hostNetwork ? validateHostNetworkPorts(containers, `${field}.containers`) : []),
  ];
}

function validateRegular(
  containers: readonly Container[],
  names: Set<string>,
  around: Surroundings,
  field: string,
): readonly FieldError[] {
  if (containers.length === 0) return [required(field)];
  return [
    ...containers.flatMap((container, index) => {
      const at = `${field}[${index}]`;
      return [
        ...validateAnyContainer(container, around, at),
        ...claimName(container.name, names, at),
        ...validateLifecycle(container.lifecycle, around.graceSeconds, `${at}.lifecycle`),
        ...validateProbes(container, around.graceSeconds, at),
      ];
    }),
    ...validateHostPorts(containers, field),
  ];
}

function validateInit(
  containers: readonly Container[],
  names: Set<string>,
  around: Surroundings,
  field: string,
): readonly FieldError[] {
  return containers.flatMap((container, index) => {
    const at = `${field}[${index}]`;
    const hooks = isRestartableInitContainer(container)
      ? [
          ...validateLifecycle(container.lifecycle, around.graceSeconds, `${at}.lifecycle`),
          ...validateProbes(container, around.graceSeconds, at),
        ]
      : initFields
          .filter((name) => container[name] !== undefined)
          .map((name) => forbidden(`${at}.${name}`, initOnly));
    return [
      ...validateAnyContainer(container, around, at),
      ...claimName(container.name, names, at),
      ...hooks,
    ];
  });
}

function validateEphemeral(
  containers: readonly EphemeralContainer[],
  names: Set<string>,
  around: Surroundings,
  field: string,
): readonly FieldError[] {
  const targets = new Set(names);
  return containers.flatMap((container, index) => {
    const at = `${field}[${index}]`;
    const target = container.targetContainerName ?? '';
    return [
      ...validateAnyContainer(container, around, at),
      ...claimName(container.name, names, at),
      ...(target !== '' && !targets.has(target)
        ? [notFoundValue(`${at}.targetContainerName`, target)]
        : []),
      ...ephemeralFields
        .filter((name) => container[name] !== undefined)
        .map((name) => forbidden(`${at}.${name}`, 'cannot be set for an Ephemeral Container')),
    ];
  });
}

function claimName(name: string, names: Set<string>, field: string): readonly FieldError[] {
  if (names.has(name)) return [duplicate(`${field}.name`, name)];
  names.add(name);
  return [];
}

function validateAnyContainer(
  container: Container,
  around: Surroundings,
  field: string,
): readonly FieldError[] {
  const { ports = [], env = [], envFrom = [], volumeMounts = [], securityContext } = container;
  return [
    ...validateDnsLabel(`${field}.name`, container.name),
    ...validateFilled(`${field}.image`, container.image),
    ...validateChoice(`${field}.terminationMessagePolicy`, container.terminationMessagePolicy, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(ports, `${field}.ports`),
    ...validateEnv(env, `${field}.env`),
    ...validateEnvFrom(envFrom, `${field}.envFrom`),
    ...validateMounts(volumeMounts, around.volumes, `${field}.volumeMounts`),
    ...validateChoice(`${field}.imagePullPolicy`, container.imagePullPolicy, [
      'Always',
      'IfNotPresent',
      'Never',
    ]),
    ...validateResizePolicy(
      container.resizePolicy ?? [],
      around.restartPolicy,
      `${field}.resizePolicy`,
    ),
    ...validateResources(container.resources, `${field}.resources`),
    ...(securityContext === undefined
      ? []
      : validateContainerSecurity(securityContext, `${field}.securityContext`)),
    ...validateOptionalChoice(`${field}.restartPolicy`, container.restartPolicy, [
      'Always',
      'Never',
      'OnFailure',
    ]),
  ];
}

function validatePorts(ports: readonly ContainerPort[], field: string): readonly FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const { name = '', containerPort, hostPort = 0 } = port;
    return [
      ...(name === '' ? [] : validatePortName(name, names, `${at}.name`)),
      ...(containerPort === 0
        ? [required(`${at}.containerPort`)]
        : invalidEach(`${at}.containerPort`, containerPort, portNumber(containerPort))),
      ...(hostPort === 0 ? [] : invalidEach(`${at}.hostPort`, hostPort, portNumber(hostPort))),
      ...validateChoice(`${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']),
    ];
  });
}

function validatePortName(name: string, names: Set<string>, field: string): readonly FieldError[] {
  const wrong = invalidEach(field, name, portName(name));
  if (wrong.length > 0) return wrong;
  if (names.has(name)) return [duplicate(field, name)];
  names.add(name);
  return [];
}

type PlacedPort = { readonly port: ContainerPort; readonly field: string };

function placedPorts(containers: readonly Container[], field: string): readonly PlacedPort[] {
  return containers.flatMap((container, index) =>
    (container.ports ?? []).map((port, at) => ({
      port,
      field: `${field}[${index}].ports[${at}].hostPort`,
    })),
  );
}

/** No two containers of a pod may want the same port of the node. */
function validateHostPorts(containers: readonly Container[], field: string): readonly FieldError[] {
  const taken = new Set<string>();
  return placedPorts(containers, field).flatMap(({ port, field: at }) => {
    if (!port.hostPort) return [];
    const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
    if (taken.has(key)) return [duplicate(at, key)];
    taken.add(key);
    return [];
  });
}

function validateHostNetworkPorts(
  containers: readonly Container[],
  field: string,
): readonly FieldError[] {
  const detail = 'must match `containerPort` when `hostNetwork` is true';
  return placedPorts(containers, field)
    .filter(({ port }) => (port.hostPort ?? 0) !== port.containerPort)
    .map(({ port, field: at }) => invalid(at, port.hostPort ?? 0, detail));
}

function validateMounts(
  mounts: readonly VolumeMount[],
  volumes: ReadonlySet<string>,
  field: string,
): readonly FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const repeated = paths.has(mount.mountPath);
    paths.add(mount.mountPath);
    return [
      ...validateFilled(`${at}.name`, mount.name),
      ...(volumes.has(mount.name) ? [] : [notFoundValue(`${at}.name`, mount.name)]),
      ...validateFilled(`${at}.mountPath`, mount.mountPath),
      ...(repeated ? [invalid(`${at}.mountPath`, mount.mountPath, 'must be unique')] : []),
      ...validateSubPaths(mount, at),
      ...validateOptionalChoice(`${at}.mountPropagation`, mount.mountPropagation, [
        'Bidirectional',
        'HostToContainer',
        'None',
      ]),
    ];
  });
}

function validateSubPaths(mount: VolumeMount, field: string): readonly FieldError[] {
  const { subPath = '', subPathExpr = '' } = mount;
  return [
    ...(subPath === '' ? [] : validateLocalPath(subPath, `${field}.subPath`)),
    ...(subPathExpr !== '' && subPath !== ''
      ? [
          invalid(
            `${field}.subPathExpr`,
            subPathExpr,
            'subPathExpr and subPath are mutually exclusive',
          ),
        ]
      : []),
    ...(subPathExpr === '' ? [] : validateLocalPath(subPathExpr, `${field}.subPathExpr`)),
  ];
}
