// The flags of node IPAM, with kube-controller-manager's names and validation.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ControllerSettings, NodeIpamSettings } from '../controllers/settings.ts';
import { type Cidr, formatCidr, parseCidr } from '../ip/cidr.ts';
import { UsageError } from './command.ts';
import { bool, wholeNumber } from './parse-values.ts';

export type NodeIpamFlags = {
  readonly allocateNodeCidrs: boolean;
  readonly clusterCidr?: readonly Cidr[];
  readonly nodeCidrMaskSizeIpv4: number;
  readonly nodeCidrMaskSizeIpv6: number;
  /** Set by commands that have this flag. */
  readonly serviceClusterIpRange?: readonly Cidr[];
};

const defaultMaskSizes = { IPv4: 24, IPv6: 64 } as const;

export function addNodeIpamFlags(command: Command): Command {
  const mask = (family: 'IPv4' | 'IPv6', max: number): Option =>
    new Option(
      `--node-cidr-mask-size-${family.toLowerCase()} <bits>`,
      `Prefix length of the ${family} CIDR of a node`,
    )
      .argParser(wholeNumber({ min: 1, max }))
      .default(defaultMaskSizes[family], String(defaultMaskSizes[family]));
  return command
    .addOption(
      new Option('--allocate-node-cidrs [bool]', 'Assigns a CIDR for pods to each node')
        .argParser(bool)
        .preset('true')
        .default(false, 'false'),
    )
    .option(
      '--cluster-cidr <cidrs>',
      'CIDRs of all pods, one per IP family, separated by commas',
      podRanges,
    )
    .addOption(mask('IPv4', 30))
    .addOption(mask('IPv6', 126));
}

/** One range, or two of different families. */
function podRanges(text: string): readonly Cidr[] {
  const ranges = text.split(',').map((part) => {
    const range = parseCidr(part.trim());
    if (range !== undefined) return range;
    throw new InvalidArgumentError(
      `"${part}" is not a network; it must be one like 10.244.0.0/16 or fd44::/48.`,
    );
  });
  const families = new Set(ranges.map(({ family }) => family));
  if (families.size === ranges.length) return ranges;
  throw new InvalidArgumentError('two ranges must be of different families.');
}

export function nodeIpamSettings(
  flags: Partial<NodeIpamFlags>,
): Pick<ControllerSettings, 'nodeIpam'> {
  if (flags.allocateNodeCidrs !== true) return {};
  const { clusterCidr: clusterCidrs, serviceClusterIpRange: serviceCidrs = [] } = flags;
  if (clusterCidrs === undefined) {
    throw new UsageError('Cannot allocate node CIDRs: --cluster-cidr is missing.');
  }
  const maskSizes = {
    IPv4: flags.nodeCidrMaskSizeIpv4 ?? defaultMaskSizes.IPv4,
    IPv6: flags.nodeCidrMaskSizeIpv6 ?? defaultMaskSizes.IPv6,
  };
  for (const range of clusterCidrs) requireFitting(range, maskSizes);
  return { nodeIpam: { clusterCidrs, serviceCidrs, maskSizes } };
}

/** Upstream's limit of the bits between cluster and node CIDR for IPv6. */
const maxBitsIPv6 = 16;
/** IPv4 ranges are smaller: this allows every sensible size. */
const maxBitsIPv4 = 24;

function requireFitting(range: Cidr, maskSizes: NodeIpamSettings['maskSizes']): void {
  const { family, prefix } = range;
  const size = maskSizes[family];
  const flag = `--node-cidr-mask-size-${family.toLowerCase()}`;
  if (size < prefix) {
    throw new UsageError(
      `Cannot cut ${formatCidr(range)} into ranges of /${size}: ${flag} must be at least ${prefix}.`,
    );
  }
  const max = prefix + (family === 'IPv6' ? maxBitsIPv6 : maxBitsIPv4);
  if (size > max) {
    throw new UsageError(
      `Cannot cut ${formatCidr(range)} into ranges of /${size}: that makes too many, ${flag} must be at most ${max}.`,
    );
  }
}
