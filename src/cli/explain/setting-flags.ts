// Flags for what no object of a cluster says: its domain, its ranges, how its proxies work.
import type { Command } from 'commander';
import { UsageError } from '../../flags/command.ts';
import { allModes } from '../../proxy/modes/all.ts';
import type { Mode } from '../../proxy/modes/mode.ts';
import type { ClusterSettings, SettingFlags } from '../../snapshot/cluster-settings.ts';

export type ClusterFlags = {
  readonly clusterDomain?: string;
  readonly clusterDns?: string;
  readonly clusterCidr?: string;
  readonly proxyMode?: string;
  readonly nodeportAddresses?: string;
};

export function addClusterFlags(command: Command): Command {
  return command
    .option('--cluster-domain <domain>', 'Domain of the cluster (default: that of its DNS)')
    .option('--cluster-dns <addresses>', 'Addresses of its DNS, separated by commas')
    .option('--cluster-cidr <ranges>', 'Ranges of its pods, separated by commas')
    .option('--proxy-mode <mode>', 'Mode of its proxies (default: as configured, or nftables)')
    .option(
      '--nodeport-addresses <ranges>',
      'Where node ports answer, as in the configuration of its proxies',
    );
}

export function settingFlags(flags: ClusterFlags): SettingFlags {
  const { clusterDomain, clusterDns, clusterCidr, proxyMode, nodeportAddresses } = flags;
  return {
    ...(clusterDomain === undefined ? {} : { clusterDomain }),
    ...(clusterDns === undefined ? {} : { clusterDns: words(clusterDns) }),
    ...(clusterCidr === undefined ? {} : { clusterCidr: words(clusterCidr) }),
    ...(proxyMode === undefined ? {} : { proxyMode }),
    ...(nodeportAddresses === undefined ? {} : { nodePortAddresses: words(nodeportAddresses) }),
  };
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

export function checkModeName(flag: string, name: string | undefined): void {
  const names = allModes.map((one) => one.name);
  if (name === undefined || names.includes(name)) return;
  throw new UsageError(`${flag}: "${name}" is no mode, want one of ${names.join(', ')}`);
}

/** Other programs have modes of their own, and other names for these: then the first one. */
export async function loadMode({ proxyMode }: ClusterSettings): Promise<Mode> {
  const [first] = allModes;
  const found = allModes.find(({ name }) => name === proxyMode.value) ?? first;
  if (found === undefined) throw new Error('There is no proxy mode');
  return found.load();
}
