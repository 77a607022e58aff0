// Validation of containers, init containers and ephemeral containers.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFoundValue,
  required,
} from '../../meta/field-error.ts';
import { portName, portNumber } from '../../meta/names.ts';
import type { Container, ContainerPort, EphemeralContainer } from './container.ts';
import { invalidEach, validateChoice, validateDnsLabel, validateFilled } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import { isRestartableInitContainer } from './ports.ts';
import { type PodClaims, validateContainerClaims } from './validate-claims.ts';
import { validateEnv, validateEnvFrom } from './validate-environment.ts';
import { type MountableVolumes, validateMounts } from './validate-mounts.ts';
import { validateLifecycle, validateProbes } from './validate-probes.ts';
import { validateResizePolicy, validateResources } from './validate-resources.ts';
import { validateInitRestartRules, validateRestartRules } from './validate-restart-rules.ts';
import { validateContainerSecurity } from './validate-security.ts';

const initOnly = 'may not be set for init containers without restartPolicy=Always';
/** In the order of Go's struct. */
const ephemeralFields = [
  ...(['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const),
  ...(['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const),
];
const notEphemeral = 'cannot be set for an Ephemeral Container';
const paddedImage = 'must not have leading or trailing whitespace';
const initFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

type Surroundings = {
  /** Volumes of the pod by name. */
  readonly volumes: MountableVolumes;
  /** Resource claims of the pod. */
  readonly claims: PodClaims;
  readonly graceSeconds: number;
  /** Of the pod. */
  readonly restartPolicy: string | undefined;
  /** Whether the pod uses the host's user namespace. */
  readonly sharesUsers: boolean;
};

export function validateContainers(
  spec: PodSpec,
  volumes: MountableVolumes,
  claims: PodClaims,
  field: string,
): readonly FieldError[] {
  const containers = spec.containers ?? [];
  const { restartPolicy, terminationGracePeriodSeconds: graceSeconds = 0 } = spec;
  const sharesUsers = spec.hostUsers !== false;
  const around = { volumes, claims, graceSeconds, restartPolicy, sharesUsers };
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
        ...validateRestartRules(container, at),
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
      ...validateInitRestartRules(container, at),
      ...claimName(container.name, names, at),
      // Separately: init containers run one after the other, so ports conflict only within one. Upstream reports all
      // conflicts on the first.
      ...validateHostPorts([container], field),
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
      ...validatePadding(container.image, `${at}.image`),
      ...claimName(container.name, names, at),
      ...(target !== '' && !targets.has(target)
        ? [notFoundValue(`${at}.targetContainerName`, target)]
        : []),
      ...ephemeralFields
        .filter((name) => isGiven(container[name]))
        .map((name) => forbidden(`${at}.${name}`, notEphemeral)),
      ...(container.volumeMounts ?? []).flatMap((mount, position) =>
        (['subPath', 'subPathExpr'] as const)
          .filter((name) => mount[name])
          .map((name) => forbidden(`${at}.volumeMounts[${position}].${name}`, notEphemeral)),
      ),
    ];
  });
}

/** Go treats a struct without fields as absent. */
const isGiven = (value: unknown): boolean =>
  value !== undefined && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0);

function validatePadding(image = '', field: string): readonly FieldError[] {
  return image === image.trim() ? [] : [invalid(field, image, paddedImage)];
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
  const { ports = [], env = [], envFrom = [], securityContext } = container;
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
    ...validateMounts(container, around.volumes, field),
    ...validateChoice(`${field}.imagePullPolicy`, container.imagePullPolicy, [
      'Always',
      'IfNotPresent',
      'Never',
    ]),
    ...validateResources(container.resources, `${field}.resources`),
    ...validateContainerClaims(
      container.resources.claims ?? [],
      around.claims,
      `${field}.resources.claims`,
    ),
    ...validateResizePolicy(
      container.resizePolicy ?? [],
      around.restartPolicy,
      `${field}.resizePolicy`,
    ),
    ...(securityContext === undefined
      ? []
      : validateContainerSecurity(securityContext, around.sharesUsers, `${field}.securityContext`)),
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

/** Two containers of a pod must not request the same host port. */
function validateHostPorts(containers: readonly Container[], field: string): readonly FieldError[] {
  const used = new Set<string>();
  return placedPorts(containers, field).flatMap(({ port, field: at }) => {
    if (!port.hostPort) return [];
    const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
    if (used.has(key)) return [duplicate(at, key)];
    used.add(key);
    return [];
  });
}

/** In templates the host port may be unset: it defaults when pods are created. */
export function validateHostNetworkPorts(
  spec: PodSpec,
  isTemplate: boolean,
  field: string,
): readonly FieldError[] {
  if (!spec.hostNetwork) return [];
  const detail = 'must match `containerPort` when `hostNetwork` is true';
  return placedPorts(spec.containers ?? [], `${field}.containers`)
    .filter(({ port: { hostPort = 0 } }) => !isTemplate || hostPort !== 0)
    .filter(({ port }) => (port.hostPort ?? 0) !== port.containerPort)
    .map(({ port, field: at }) => invalid(at, port.hostPort ?? 0, detail));
}
