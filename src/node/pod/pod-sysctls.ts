// Kernel settings that a pod asks for: those that are its namespaces' own and harm nobody else are set, others are refused.
import type { Pod } from '../../kinds/pod/types.ts';

/** A kubelet's. */
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
  /** The words of a kubelet, under the reason SysctlForbidden. */
  | { readonly forbidden: string };

export function podSysctls({ spec }: Pod): SysctlVerdict {
  const asked = (spec.securityContext?.sysctls ?? []).map(({ name, value }) => ({
    name: name.replaceAll('/', '.'),
    value,
  }));
  const refused = asked.find(({ name }) => !isAllowed(name, spec));
  if (refused !== undefined)
    return {
      forbidden: `forbidden sysctl: ${JSON.stringify(refused.name)} ${reasonFor(refused.name)}`,
    };
  return {
    settings: asked.map(({ name, value }) => ({
      path: `/proc/sys/${name.replaceAll('.', '/')}`,
      value,
    })),
  };
}

/** Of a namespace that is the pod's own. */
function isAllowed(name: string, { hostNetwork, hostIPC }: Pod['spec']): boolean {
  if (!safeNames.has(name)) return false;
  return name.startsWith('net.') ? hostNetwork !== true : hostIPC !== true;
}

const reasonFor = (name: string): string =>
  safeNames.has(name) ? 'not allowed with host net/ipc enabled' : 'not allowlisted';
