// The /etc/resolv.conf of a pod.
import type { PodDnsConfig, PodSpec } from '../../kinds/pod/pod-spec.ts';

export type ResolverConfig = {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
};

export type ClusterDns = {
  /** Empty: the cluster has no DNS. */
  readonly nameservers: readonly string[];
  readonly domain: string;
};

/** An event to show on the pod. */
export type ResolverWarning = {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS';
  readonly message: string;
};

export type BuiltConfig = {
  readonly config: ResolverConfig;
  readonly warnings: readonly ResolverWarning[];
};

type DnsSpec = Pick<PodSpec, 'dnsPolicy' | 'dnsConfig' | 'hostNetwork'>;

/** Limits of glibc, which silently ignores the rest. */
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;

export function buildResolverConfig(
  spec: DnsSpec,
  namespace: string,
  { host, cluster }: { readonly host: ResolverConfig; readonly cluster: ClusterDns },
): BuiltConfig {
  const warnings: ResolverWarning[] = [];
  const base = (): ResolverConfig => {
    if (spec.dnsPolicy === 'None') return { nameservers: [], searches: [], options: [] };
    if (!usesClusterDns(spec)) return host;
    if (cluster.nameservers.length > 0) return clusterConfig(namespace, host, cluster);
    warnings.push({
      reason: 'MissingClusterDNS',
      message: `the cluster has no DNS address, so a pod with DNS policy "${spec.dnsPolicy}" gets the policy "Default"`,
    });
    return host;
  };
  return trim(merge(base(), spec.dnsConfig), warnings);
}

/** DNS-37: on the host's network, ClusterFirst means the host's configuration. */
function usesClusterDns({ dnsPolicy, hostNetwork }: DnsSpec): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
}

function clusterConfig(
  namespace: string,
  host: ResolverConfig,
  { nameservers, domain }: ClusterDns,
): ResolverConfig {
  const searches = [`${namespace}.svc.${domain}`, `svc.${domain}`, domain];
  return { nameservers, searches: unique([...searches, ...host.searches]), options: ['ndots:5'] };
}

/** DNS-38: the pod's options override those of the same name. */
function merge(base: ResolverConfig, wanted: PodDnsConfig | undefined): ResolverConfig {
  const options = new Map(base.options.map((option) => [optionName(option), option]));
  for (const { name = '', value } of wanted?.options ?? []) {
    options.set(name, value === undefined ? name : `${name}:${value}`);
  }
  return {
    nameservers: unique([...base.nameservers, ...(wanted?.nameservers ?? [])]),
    searches: unique([...base.searches, ...(wanted?.searches ?? [])]),
    options: [...options.values()],
  };
}

/** DNS-39: entries beyond the limits are omitted, with a warning. */
function trim(config: ResolverConfig, warnings: readonly ResolverWarning[]): BuiltConfig {
  const nameservers = config.nameservers.slice(0, maxNameservers);
  let searches = config.searches.slice(0, maxSearches);
  while (searches.join(' ').length > maxSearchCharacters) searches = searches.slice(0, -1);
  const found = [...warnings];
  const forming = (message: string): number => found.push({ reason: 'DNSConfigForming', message });
  if (nameservers.length < config.nameservers.length) {
    forming(
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${nameservers.join(' ')}`,
    );
  }
  if (searches.length < config.searches.length) {
    forming(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
    );
  }
  return { config: { ...config, nameservers, searches }, warnings: found };
}

export function renderResolverConfig({ nameservers, searches, options }: ResolverConfig): string {
  const lines = [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...nameservers.map((address) => `nameserver ${address}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Later `search` and `domain` lines replace earlier ones, as in resolv.conf(5). */
export function parseResolverConfig(text: string): ResolverConfig {
  const nameservers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [word, ...rest] = (line.split(/[#;]/, 1)[0] ?? '').trim().split(/\s+/);
    if (word === 'nameserver' && rest[0] !== undefined) nameservers.push(rest[0]);
    else if (word === 'search' || word === 'domain')
      searches = rest.map((name) => name.replace(/(.)\.$/, '$1'));
    else if (word === 'options') options = [...options, ...rest];
  }
  return { nameservers, searches, options };
}

const optionName = (option: string): string => option.split(':')[0] ?? option;
const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];
