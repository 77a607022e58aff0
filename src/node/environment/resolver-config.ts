// What a pod finds in its /etc/resolv.conf.
import type { PodDnsConfig, PodSpec } from '../../kinds/pod/pod-spec.ts';

export type ResolverConfig = {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
};

export type ClusterDns = {
  /** Empty where the cluster has no name service. */
  readonly nameservers: readonly string[];
  readonly domain: string;
};

/** An event to show on the pod. */
export type ResolverWarning = {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS';
  readonly message: string;
};

export type FormedConfig = {
  readonly config: ResolverConfig;
  readonly warnings: readonly ResolverWarning[];
};

type Asked = Pick<PodSpec, 'dnsPolicy' | 'dnsConfig' | 'hostNetwork'>;

/** What glibc reads; more would be ignored in silence. */
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;

export function formResolverConfig(
  spec: Asked,
  namespace: string,
  { host, cluster }: { readonly host: ResolverConfig; readonly cluster: ClusterDns },
): FormedConfig {
  const warnings: ResolverWarning[] = [];
  const basis = (): ResolverConfig => {
    if (spec.dnsPolicy === 'None') return { nameservers: [], searches: [], options: [] };
    if (!wantsClusterDns(spec)) return host;
    if (cluster.nameservers.length > 0) return clusterConfig(namespace, host, cluster);
    warnings.push({
      reason: 'MissingClusterDNS',
      message: `the cluster has no DNS address, so a pod with DNS policy "${spec.dnsPolicy}" gets the policy "Default"`,
    });
    return host;
  };
  return trim(merge(basis(), spec.dnsConfig), warnings);
}

/** A pod on the host's network has the host's names, unless it asks otherwise (DNS-37). */
function wantsClusterDns({ dnsPolicy, hostNetwork }: Asked): boolean {
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

/** DNS-38: what the pod says of an option replaces what was there. */
function merge(basis: ResolverConfig, wanted: PodDnsConfig | undefined): ResolverConfig {
  const options = new Map(basis.options.map((option) => [optionName(option), option]));
  for (const { name = '', value } of wanted?.options ?? []) {
    options.set(name, value === undefined ? name : `${name}:${value}`);
  }
  return {
    nameservers: unique([...basis.nameservers, ...(wanted?.nameservers ?? [])]),
    searches: unique([...basis.searches, ...(wanted?.searches ?? [])]),
    options: [...options.values()],
  };
}

/** DNS-39: what is too much is left out, and said. */
function trim(config: ResolverConfig, warnings: readonly ResolverWarning[]): FormedConfig {
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

/** The host's file; later `search` and `domain` lines replace earlier ones, as resolvers have it. */
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
