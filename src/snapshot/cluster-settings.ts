// What no object of its own says about a cluster: its domain, its DNS addresses, its pod ranges, how its proxies work. Read where
// installers leave it, unless the user says it; each setting has its source, because an answer is only as good as what it assumes.

import { isJsonObject } from '../schema/json-object.ts';
import { parseYaml } from '../schema/yaml.ts';
import type { SnapshotIndex } from './index-snapshot.ts';

export type Setting<T> = {
  readonly value: T;
  /** `flag`, `default`, or the object that says it, such as `configmap kube-system/coredns`. */
  readonly source: string;
};

export type ClusterSettings = {
  readonly domain: Setting<string>;
  /** Of the cluster's DNS; empty if the cluster has none. */
  readonly dnsAddresses: Setting<readonly string[]>;
  readonly podRanges: Setting<readonly string[]>;
  readonly proxyMode: Setting<string>;
  /** Ranges, or the word `primary`; empty for what the mode does by itself. */
  readonly nodePortAddresses: Setting<readonly string[]>;
};

export type SettingFlags = {
  readonly clusterDomain?: string;
  readonly clusterDns?: readonly string[];
  readonly clusterCidr?: readonly string[];
  readonly proxyMode?: string;
  readonly nodePortAddresses?: readonly string[];
};

export const systemNamespace = 'kube-system';
const defaultDomain = 'cluster.local';
/** The mode of Fairlead's proxy where nothing says otherwise. */
const defaultMode = 'nftables';
/** Names of the Service of the cluster's DNS, as installers choose them. */
export const dnsServices = ['kube-dns', 'coredns', 'rke2-coredns-rke2-coredns'];
/** Longer ones are not of an installer. */
const maxConfigLength = 100_000;

export function clusterSettings(index: SnapshotIndex, flags: SettingFlags = {}): ClusterSettings {
  const proxy = proxyConfiguration(index);
  return {
    domain: flag(flags.clusterDomain) ?? corefileDomain(index) ?? byDefault(defaultDomain),
    dnsAddresses: flag(flags.clusterDns) ?? dnsServiceAddresses(index) ?? byDefault([]),
    podRanges: flag(flags.clusterCidr) ?? proxy?.podRanges ?? nodeRanges(index),
    proxyMode: flag(flags.proxyMode) ?? proxy?.mode ?? byDefault(defaultMode),
    nodePortAddresses: flag(flags.nodePortAddresses) ?? proxy?.nodePortAddresses ?? byDefault([]),
  };
}

const byDefault = <T>(value: T): Setting<T> => ({ value, source: 'default' });

function flag<T>(value: T | undefined): Setting<T> | undefined {
  return value === undefined ? undefined : { value, source: 'flag' };
}

/** The first zone of the kubernetes plugin. */
function corefileDomain(index: SnapshotIndex): Setting<string> | undefined {
  const corefile = configText(index, 'coredns', 'Corefile');
  const words = (corefile ?? '').split('\n').map((line) => line.trim().split(' '));
  const zone = words.find(([plugin]) => plugin === 'kubernetes')?.[1];
  if (zone === undefined) return undefined;
  return { value: zone.replace(/\.$/, ''), source: `configmap ${systemNamespace}/coredns` };
}

function dnsServiceAddresses(index: SnapshotIndex): Setting<readonly string[]> | undefined {
  for (const name of dnsServices) {
    const spec = index.service(systemNamespace, name)?.spec;
    const addresses = spec?.clusterIPs ?? (spec?.clusterIP ? [spec.clusterIP] : []);
    if (addresses.length > 0 && addresses[0] !== 'None') {
      return { value: addresses, source: `service ${systemNamespace}/${name}` };
    }
  }
  return undefined;
}

function nodeRanges({ snapshot }: SnapshotIndex): Setting<readonly string[]> {
  const ranges = snapshot.objects.nodes.flatMap(
    ({ spec }) => spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []),
  );
  return ranges.length === 0 ? byDefault([]) : { value: ranges, source: 'spec.podCIDRs of nodes' };
}

type ProxyConfiguration = {
  readonly mode?: Setting<string>;
  readonly podRanges?: Setting<readonly string[]>;
  readonly nodePortAddresses?: Setting<readonly string[]>;
};

/** As kubeadm leaves it. An empty mode is kube-proxy's default. */
function proxyConfiguration(index: SnapshotIndex): ProxyConfiguration | undefined {
  const text = configText(index, 'kube-proxy', 'config.conf');
  const parsed = text === undefined ? undefined : parseYaml(text);
  if (parsed === undefined || 'error' in parsed || !isJsonObject(parsed.value)) return undefined;
  const { mode, clusterCIDR, nodePortAddresses } = parsed.value;
  const source = `configmap ${systemNamespace}/kube-proxy`;
  const ranges = typeof clusterCIDR === 'string' ? clusterCIDR.split(',').filter(Boolean) : [];
  const listed = Array.isArray(nodePortAddresses)
    ? nodePortAddresses.filter((one) => typeof one === 'string')
    : [];
  return {
    mode: { value: typeof mode === 'string' && mode !== '' ? mode : kubeProxyMode, source },
    ...(ranges.length === 0 ? {} : { podRanges: { value: ranges, source } }),
    ...(listed.length === 0 ? {} : { nodePortAddresses: { value: listed, source } }),
  };
}

const kubeProxyMode = 'iptables';

function configText({ snapshot }: SnapshotIndex, name: string, file: string): string | undefined {
  const text = snapshot.objects.configMaps.find(
    ({ metadata }) => metadata.name === name && metadata.namespace === systemNamespace,
  )?.data?.[file];
  return text === undefined || text.length > maxConfigLength ? undefined : text;
}
