// Starts one container of a pod: what it is to see and to know is put together here, the runtime does the rest.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from '../kinds/pod/container.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { removeOldRuns } from './apply-log-limits.ts';
import { containerEnvironment } from './container-environment.ts';
import { expandVariables } from './expand-variables.ts';
import { extendHosts, renderHosts } from './hosts-file.ts';
import type { NodeParts } from './node-parts.ts';
import { podHostname } from './pod-hostname.ts';
import type { PodAttachment } from './pod-network.ts';
import { formResolverConfig, renderResolverConfig } from './resolver-config.ts';
import { type PodVolumes, readObjects } from './run-volumes.ts';
import type { ContainerToRun, Mount, RunningContainer } from './runtimes/runtime.ts';
import type { Variables } from './service-variables.ts';

export type ContainerStart = {
  readonly pod: Pod;
  readonly container: Container;
  /** How often it was started before. */
  readonly attempt: number;
  readonly attachment: PodAttachment;
  readonly volumes: PodVolumes;
  /** Of the pod. */
  readonly directory: string;
};

/** Why a container cannot be made as it is configured. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

/** Where pods find the token that nobody asked for by name. */
const accountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Throws ContainerConfigError or ContainerStartError. */
export async function startContainer(
  start: ContainerStart,
  parts: NodeParts,
): Promise<RunningContainer> {
  const { pod, container, attempt, attachment } = start;
  const variables = await environment(start, parts);
  const expand = (text: string): string => expandVariables(text, variables);
  const { uid = '', namespace = '', name = '' } = pod.metadata;
  const runs = join(start.directory, 'containers', container.name);
  const directory = join(runs, String(attempt));
  const log = logPath(parts.dataDirectory, pod, container.name, attempt);
  removeOldRuns(runs, log, attempt);
  mkdirSync(directory, { recursive: true });
  const user = userOf(pod, container);
  const toRun: ContainerToRun = {
    id: randomBytes(32).toString('hex'),
    pod: { uid, namespace, name },
    name: container.name,
    image: container.image ?? '',
    command: (container.command ?? []).map(expand),
    args: (container.args ?? []).map(expand),
    variables,
    ...(container.workingDir ? { workingDir: container.workingDir } : {}),
    ...(user === undefined ? {} : { user }),
    mounts: [...systemFiles(start, parts, directory), ...volumeMounts(start, variables)],
    ...(pod.spec.hostNetwork
      ? {}
      : { hostname: podHostname(pod, parts.cluster.domain).kernelName }),
    ...(attachment.namespacePath === undefined ? {} : { namespacePath: attachment.namespacePath }),
    directory,
    ...(container.resources === undefined ? {} : { resources: container.resources }),
    logPath: log,
    hasStdin: container.stdin ?? false,
    hasTerminal: container.tty ?? false,
  };
  return parts.runtime.startContainer(toRun);
}

export function logPath(
  dataDirectory: string,
  { metadata }: Pod,
  container: string,
  attempt: number,
): string {
  const { namespace, name, uid } = metadata;
  return join(dataDirectory, 'logs', `${namespace}_${name}_${uid}`, container, `${attempt}.log`);
}

async function environment(
  { pod, container, attachment }: ContainerStart,
  parts: NodeParts,
): Promise<Variables> {
  const found = containerEnvironment({
    pod,
    container,
    services: parts.services(),
    ...(await readObjects(parts, pod)),
    addresses: { podIPs: attachment.ips, hostIPs: parts.nodeIPs },
    allocatable: parts.allocatable,
  });
  if ('problem' in found) throw new ContainerConfigError(found.problem);
  for (const { reason, message } of found.warnings) {
    parts.events.record(pod, { type: 'Warning', reason, message });
  }
  return found.variables;
}

function userOf({ spec }: Pod, { securityContext: own }: Container): ContainerToRun['user'] {
  const uid = own?.runAsUser ?? spec.securityContext?.runAsUser;
  const gid = own?.runAsGroup ?? spec.securityContext?.runAsGroup;
  const isRootForbidden = own?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot ?? false;
  if (isRootForbidden && (uid ?? process.getuid?.()) === 0) {
    throw new ContainerConfigError('container has runAsNonRoot and image will run as root');
  }
  // Who the agent itself is needs no change, and only root may change.
  if (uid === undefined || uid === process.getuid?.()) return undefined;
  return { uid, ...(gid === undefined ? {} : { gid }) };
}

/** resolv.conf, hosts and hostname of the pod, and a place for the container's last words. */
function systemFiles(
  { pod, container, attachment, directory: podDirectory }: ContainerStart,
  parts: NodeParts,
  directory: string,
): readonly Mount[] {
  const namespace = pod.metadata.namespace ?? '';
  const host = parts.hostResolver();
  const { config, warnings } = formResolverConfig(pod.spec, namespace, {
    host,
    cluster: parts.cluster,
  });
  for (const { reason, message } of warnings)
    parts.events.record(pod, { type: 'Warning', reason, message });
  const names = podHostname(pod, parts.cluster.domain);
  const hosts = pod.spec.hostNetwork
    ? extendHosts(parts.hostHosts(), pod.spec.hostAliases)
    : renderHosts({ podIPs: attachment.ips, ...names, hostAliases: pod.spec.hostAliases ?? [] });
  const files: readonly (readonly [string, string, string])[] = [
    ['/etc/resolv.conf', join(podDirectory, 'etc-resolv.conf'), renderResolverConfig(config)],
    ['/etc/hosts', join(podDirectory, 'etc-hosts'), hosts],
    ['/etc/hostname', join(podDirectory, 'etc-hostname'), `${names.kernelName}\n`],
    [container.terminationMessagePath || '/dev/termination-log', join(directory, lastWords), ''],
  ];
  const own = new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  return files
    .filter(([path]) => !own.has(path))
    .map(([path, source, text]) => {
      writeFileSync(source, text);
      return { source, path, isReadOnly: false, isOptional: true };
    });
}

const lastWords = 'termination-log';
/** A kubelet keeps no more. */
const longestLastWords = 4096;

/** What the container left to be said of its end. */
export function readLastWords(podDirectory: string, container: string, attempt: number): string {
  const path = join(podDirectory, 'containers', container, String(attempt), lastWords);
  try {
    return readFileSync(path, 'utf8').slice(0, longestLastWords);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function volumeMounts(
  { pod, container, volumes }: ContainerStart,
  variables: Variables,
): readonly Mount[] {
  return (container.volumeMounts ?? []).map((mount) => {
    const source = volumes.path(mount.name);
    if (source === undefined) {
      throw new ContainerConfigError(
        `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(container.name)}`,
      );
    }
    const below = mount.subPathExpr
      ? expandVariables(mount.subPathExpr, variables)
      : (mount.subPath ?? '');
    if (below.split('/').includes('..'))
      throw new ContainerConfigError(`subPath ${below} must not contain ".."`);
    if (isWritable(pod, mount.name) && !existsSync(join(source, below)))
      mkdirSync(join(source, below), { recursive: true });
    return {
      source: join(source, below),
      path: mount.mountPath.replace(/(.)\/+$/, '$1'),
      isReadOnly: mount.readOnly === true || !isWritable(pod, mount.name),
      ...(mount.mountPath === accountPath ? { isOptional: true } : {}),
    };
  });
}

/** Volumes made from API objects are only read. */
function isWritable({ spec }: Pod, name: string): boolean {
  const volume = spec.volumes?.find((one) => one.name === name);
  return volume?.emptyDir !== undefined || volume?.hostPath !== undefined;
}
