// Starts one container of a pod: collects its environment, volumes and files, and calls the runtime.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { containerEnvironment } from '../environment/container-environment.ts';
import { expandVariables } from '../environment/expand-variables.ts';
import { extendHosts, renderHosts } from '../environment/hosts-file.ts';
import { podHostname } from '../environment/pod-hostname.ts';
import { buildResolverConfig, renderResolverConfig } from '../environment/resolver-config.ts';
import type { Variables } from '../environment/service-variables.ts';
import { removeOldRuns } from '../logs/remove-old-logs.ts';
import type { PodAttachment } from '../network/pod-network.ts';
import type { NodeParts } from '../node-parts.ts';
import {
  ContainerConfigError,
  type ContainerToRun,
  type Mount,
  type RunningContainer,
} from '../runtimes/runtime.ts';
import { closeVolumes, openVolumes, terminationMessageName } from '../volumes/open-volumes.ts';
import { makeSharedMemory, type PodVolumes, readObjects } from '../volumes/run-volumes.ts';
import { type ContainerSecurity, containerSecurity } from './container-security.ts';
import type { ContainerImages } from './run-container-images.ts';

export type ContainerStart = {
  readonly pod: Pod;
  readonly container: Container;
  readonly images: ContainerImages;
  /** Number of earlier starts. */
  readonly attempt: number;
  /** The container whose process namespace it joins. */
  readonly target?: RunningContainer;
  readonly attachment: PodAttachment;
  readonly volumes: PodVolumes;
  /** The pod's directory. */
  readonly directory: string;
};

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
  await removeOldRuns(runs, log, attempt);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const security = await securityOf(start, parts);
  const sharedMemory = makeSharedMemory(start.directory, parts.log);
  const volumes = openVolumes({
    ...start,
    ...{ variables, privatePaths: parts.privatePaths, images: start.images.volumes },
  });
  const toRun: ContainerToRun = {
    id: randomBytes(32).toString('hex'),
    pod: { uid, namespace, name },
    name: container.name,
    image: container.image ?? '',
    ...(start.images.root === undefined ? {} : { rootImage: start.images.root }),
    command: (container.command ?? []).map(expand),
    args: (container.args ?? []).map(expand),
    variables,
    ...(container.workingDir ? { workingDir: container.workingDir } : {}),
    security,
    ...(sharedMemory === undefined ? {} : { sharedMemory }),
    mounts: [...systemFiles(start, parts, directory), ...volumes],
    hostname: podHostname(pod, parts.cluster.domain).kernelName,
    ...(attachment.namespacePath === undefined ? {} : { namespacePath: attachment.namespacePath }),
    ...(start.target === undefined ? {} : { processesOf: start.target.pid }),
    directory,
    ...(container.resources === undefined ? {} : { resources: container.resources }),
    logPath: log,
    hasStdin: container.stdin ?? false,
    hasTerminal: container.tty ?? false,
  };
  try {
    return await parts.runtime.startContainer(toRun);
  } finally {
    closeVolumes(volumes);
  }
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

async function securityOf(
  { pod, container, images: { root } }: ContainerStart,
  { runtime }: NodeParts,
): Promise<ContainerSecurity> {
  const users = root && (await runtime.imageUsers?.(root.local, root.unpacked));
  const { user } = root?.local.config ?? {};
  const image = users && { users, ...(user === undefined ? {} : { user }) };
  const verdict = containerSecurity(pod, container, image);
  if ('problem' in verdict) throw new ContainerConfigError(verdict.problem);
  return verdict.security;
}

/** resolv.conf, hosts and hostname of the pod, and the container's termination message file. */
function systemFiles(
  { pod, container, attachment, directory: podDirectory }: ContainerStart,
  parts: NodeParts,
  directory: string,
): readonly Mount[] {
  const namespace = pod.metadata.namespace ?? '';
  const host = parts.hostResolver();
  const { config, warnings } = buildResolverConfig(pod.spec, namespace, {
    host,
    cluster: parts.cluster,
  });
  for (const { reason, message } of warnings)
    parts.events.record(pod, { type: 'Warning', reason, message });
  const names = podHostname(pod, parts.cluster.domain);
  const hosts = pod.spec.hostNetwork
    ? extendHosts(parts.hostHosts(), pod.spec.hostAliases)
    : renderHosts({ podIPs: attachment.ips, ...names, hostAliases: pod.spec.hostAliases ?? [] });
  const defaultTerminationMessagePath = container.terminationMessagePath || '/dev/termination-log';
  const files: readonly (readonly [string, string, string, number])[] = [
    [
      '/etc/resolv.conf',
      join(podDirectory, 'etc-resolv.conf'),
      renderResolverConfig(config),
      0o644,
    ],
    ['/etc/hosts', join(podDirectory, 'etc-hosts'), hosts, 0o644],
    ['/etc/hostname', join(podDirectory, 'etc-hostname'), `${names.kernelName}\n`, 0o644],
    // Writable for any user of the container.
    [defaultTerminationMessagePath, join(directory, terminationMessageName), '', 0o666],
  ];
  const own = new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  return files
    .filter(([path]) => !own.has(path))
    .map(([path, source, text, mode]) => {
      writeFileSync(source, text);
      // Independent of the umask of this process.
      chmodSync(source, mode);
      const replaces = path !== defaultTerminationMessagePath;
      return { source, path, isReadOnly: false, isOptional: true, replaces };
    });
}
