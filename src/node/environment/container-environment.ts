// The environment of a container: variables of its spec, and those of Services. Upstream: kubelet_pods.go, makeEnvironmentVariables.
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  KeySelector,
  ResourceFieldSelector,
} from '../../kinds/pod/environment.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { allContainers } from '../pod/container-lists.ts';
import { expandVariables } from './expand-variables.ts';
import { type PodAddresses, podField } from './pod-field.ts';
import { resourceField } from './resource-field.ts';
import { serviceVariables, type Variables } from './service-variables.ts';

export type EnvironmentOptions = {
  readonly pod: Pod;
  readonly container: Container;
  readonly services: readonly Service[];
  /** Objects of the pod's namespace by name; undefined where there is none. */
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  readonly addresses: PodAddresses;
  /** The node's allocatable resources. */
  readonly allocatable: ResourceList;
};

export type ContainerEnvironment =
  | { readonly variables: Variables; readonly warnings: readonly EnvironmentWarning[] }
  /** Why the container cannot be created, as the kubelet words it. */
  | { readonly problem: string };

export type EnvironmentWarning = {
  readonly reason: 'InvalidEnvironmentVariableNames';
  readonly message: string;
};

/** The variables so far, and warnings about skipped keys. */
type Collected = { values: Record<string, string>; warnings: EnvironmentWarning[] };
type Value = { readonly value: string } | { readonly problem: string } | undefined;

export function containerEnvironment(options: EnvironmentOptions): ContainerEnvironment {
  const { pod, container, services } = options;
  const serviceLinks = serviceVariables({
    namespace: pod.metadata.namespace ?? '',
    hasServiceLinks: pod.spec.enableServiceLinks ?? true,
    services,
  });
  const collected: Collected = { values: {}, warnings: [] };
  for (const source of container.envFrom ?? []) {
    const problem = addSource(options, source, collected);
    if (problem !== undefined) return { problem };
  }
  for (const variable of container.env ?? []) {
    const value = variableValue(options, variable, { ...serviceLinks, ...collected.values });
    if (value === undefined) continue;
    if ('problem' in value) return value;
    collected.values[variable.name] = value.value;
  }
  // Variables of the container override those of Services.
  return { variables: { ...serviceLinks, ...collected.values }, warnings: collected.warnings };
}

/** Returns a problem. */
function addSource(
  options: EnvironmentOptions,
  source: EnvFromSource,
  collected: Collected,
): string | undefined {
  const { configMapRef, secretRef, prefix = '' } = source;
  if (configMapRef !== undefined) {
    const { name = '', optional } = configMapRef;
    const object = options.configMap(name);
    if (object === undefined)
      return optional ? undefined : `configmap ${JSON.stringify(name)} not found`;
    addEntries(options, collected, { entries: object.data ?? {}, prefix, from: `configMap`, name });
  }
  if (secretRef !== undefined) {
    const { name = '', optional } = secretRef;
    const object = options.secret(name);
    if (object === undefined)
      return optional ? undefined : `secret ${JSON.stringify(name)} not found`;
    addEntries(options, collected, { entries: decodeSecret(object), prefix, from: `secret`, name });
  }
  return undefined;
}

type Entries = {
  readonly entries: Variables;
  readonly prefix: string;
  readonly from: 'configMap' | 'secret';
  readonly name: string;
};

function addEntries(
  { pod }: EnvironmentOptions,
  collected: Collected,
  { entries, prefix, from, name }: Entries,
): void {
  const skipped: string[] = [];
  for (const [key, value] of Object.entries(entries)) {
    if (isVariableName(`${prefix}${key}`)) collected.values[`${prefix}${key}`] = value;
    else skipped.push(key);
  }
  if (skipped.length === 0) return;
  const where = `${from} ${pod.metadata.namespace}/${name}`;
  collected.warnings.push({
    reason: 'InvalidEnvironmentVariableNames',
    message: `Keys [${skipped.sort().join(', ')}] from the EnvFrom ${where} were skipped since they are considered invalid environment variable names.`,
  });
}

/** Printable, and no `=`, which would end the name. */
const isVariableName = (name: string): boolean => /^[ -<>-~]+$/.test(name);

/** Undefined: the variable is left out. */
function variableValue(
  options: EnvironmentOptions,
  { value, valueFrom }: EnvVar,
  variables: Variables,
): Value {
  if (value) return { value: expandVariables(value, variables) };
  return valueFrom === undefined ? { value: '' } : sourceValue(options, valueFrom);
}

function sourceValue(options: EnvironmentOptions, source: EnvVarSource): Value {
  const { pod, addresses } = options;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef !== undefined) {
    const value = podField(fieldRef.fieldPath, pod, addresses);
    return value === undefined
      ? { problem: `unsupported fieldPath: ${fieldRef.fieldPath}` }
      : { value };
  }
  if (resourceFieldRef !== undefined) return quantityValue(options, resourceFieldRef);
  if (configMapKeyRef !== undefined) {
    const object = options.configMap(configMapKeyRef.name ?? '');
    return keyValue(options, configMapKeyRef, 'ConfigMap', object && (object.data ?? {}));
  }
  if (secretKeyRef !== undefined) {
    const object = options.secret(secretKeyRef.name ?? '');
    return keyValue(options, secretKeyRef, 'Secret', object && decodeSecret(object));
  }
  return { problem: 'the source of a variable is of a kind that this node does not know' };
}

function quantityValue(
  { pod, container, allocatable }: EnvironmentOptions,
  selector: ResourceFieldSelector,
): Value {
  const { containerName, resource } = selector;
  const of = containerName ? containerNamed(pod, containerName) : container;
  if (of === undefined) return { problem: `container ${containerName} not found` };
  const value = resourceField(selector, of, allocatable);
  return value === undefined
    ? { problem: `unsupported container resource : ${resource}` }
    : { value };
}

function keyValue(
  { pod }: EnvironmentOptions,
  { name = '', key, optional }: KeySelector,
  kind: 'ConfigMap' | 'Secret',
  entries: Variables | undefined,
): Value {
  const value = entries !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
  if (value !== undefined) return { value };
  if (optional) return undefined;
  return {
    problem:
      entries === undefined
        ? `${kind.toLowerCase()} ${JSON.stringify(name)} not found`
        : `couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`,
  };
}

const containerNamed = (pod: Pod, name: string): Container | undefined =>
  allContainers(pod).find((one) => one.name === name);

function decodeSecret({ data = {} }: Secret): Variables {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]),
  );
}
