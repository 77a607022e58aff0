// The /etc/hosts of a pod.
import type { PodSpec } from '../../kinds/pod/pod-spec.ts';

export type HostsOptions = {
  readonly podIPs: readonly string[];
  /** The pod's host name, and its FQDN if it has a subdomain. */
  readonly hostname: string;
  readonly fullName?: string;
  readonly hostAliases?: PodSpec['hostAliases'];
};

const standard = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;

export function renderHosts({
  podIPs,
  hostname,
  fullName,
  hostAliases = [],
}: HostsOptions): string {
  const names = fullName === undefined ? hostname : `${fullName}\t${hostname}`;
  return `${standard}${podIPs.map((ip) => `${ip}\t${names}\n`).join('')}${renderAliases(hostAliases)}`;
}

/** For a pod on the host's network: the host's file, with the pod's aliases. */
export function extendHosts(hostFile: string, hostAliases: PodSpec['hostAliases'] = []): string {
  return `# Kubernetes-managed hosts file (host network).\n${hostFile}${renderAliases(hostAliases)}`;
}

function renderAliases(aliases: NonNullable<PodSpec['hostAliases']>): string {
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip = '', hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
