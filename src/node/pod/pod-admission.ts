// Whether this node can run a pod at all. Reasons and messages are the kubelet's.
import type { Pod } from '../../kinds/pod/types.ts';

export type PodRefusal = { readonly reason: string; readonly message: string };

/** Undefined if the pod is admitted; a refused pod has failed. */
export function podRefusal(pod: Pod): PodRefusal | undefined {
  // PodSecurity admission does not check Linux fields of a pod for Windows, so it must not run here.
  if (pod.spec.os !== undefined && pod.spec.os.name !== 'linux') {
    const message = "Failed to admit pod as the OS field doesn't match node OS";
    return { reason: 'PodOSNotSupported', message };
  }
  const sysctls = podSysctls(pod);
  return 'forbidden' in sysctls
    ? { reason: 'SysctlForbidden', message: sysctls.forbidden }
    : undefined;
}

/** The kubelet's safe sysctls. */
const safeNames = new Set([
  'kernel.shm_rmid_forced',
  ...['ip_local_port_range', 'ip_local_reserved_ports', 'ip_unprivileged_port_start'].map(ipv4),
  ...['ping_group_range', 'tcp_syncookies', 'tcp_fin_timeout', 'tcp_keepalive_time'].map(ipv4),
  ...['tcp_keepalive_intvl', 'tcp_keepalive_probes', 'tcp_rmem', 'tcp_wmem'].map(ipv4),
]);

function ipv4(name: string): string {
  return `net.ipv4.${name}`;
}

export type KernelSetting = { readonly path: string; readonly value: string };

export type SysctlVerdict =
  | { readonly settings: readonly KernelSetting[] }
  /** The kubelet's message for the reason SysctlForbidden. */
  | { readonly forbidden: string };

/** The sysctls of a pod, as files and values. */
export function podSysctls({ spec }: Pod): SysctlVerdict {
  const requested = (spec.securityContext?.sysctls ?? []).map(({ name, value }) => ({
    name: name.replaceAll('/', '.'),
    value,
  }));
  const refused = requested.find(({ name }) => !isAllowed(name, spec));
  if (refused !== undefined)
    return {
      forbidden: `forbidden sysctl: ${JSON.stringify(refused.name)} ${reasonFor(refused.name)}`,
    };
  return {
    settings: requested.map(({ name, value }) => ({
      path: `/proc/sys/${name.replaceAll('.', '/')}`,
      value,
    })),
  };
}

/** Only sysctls of namespaces that the pod does not share with the node. */
function isAllowed(name: string, { hostNetwork, hostIPC }: Pod['spec']): boolean {
  if (!safeNames.has(name)) return false;
  return name.startsWith('net.') ? hostNetwork !== true : hostIPC !== true;
}

const reasonFor = (name: string): string =>
  safeNames.has(name) ? 'not allowed with host net/ipc enabled' : 'not allowlisted';
