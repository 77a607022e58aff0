// The flags that only `up` has.
import { type Command, InvalidArgumentError } from 'commander';
import type { ControllerFlags } from '../flags/controller-flags.ts';
import { addImageFlags, type ImageFlags } from '../flags/image-flags.ts';
import { addPidFlag, type PidFlag } from '../flags/pid-flag.ts';
import { addModeFlags, type ModeFlags } from '../flags/proxy-flags.ts';
import { addRegistryFlag, type RegistryFlag } from '../flags/registry-flags.ts';
import type { ServerFlags } from '../flags/server-flags.ts';
import { addShutdownFlag, type ShutdownFlag } from '../flags/shutdown-flag.ts';
import { type NetworkMode, networkModes } from '../flags/state-file.ts';
import type { Family } from '../ip/address.ts';
import { type Cidr, parseCidr } from '../ip/cidr.ts';
import { maxNodes } from './plan-lan.ts';

export type UpFlags = ServerFlags &
  ControllerFlags &
  PidFlag &
  ImageFlags &
  RegistryFlag &
  ShutdownFlag &
  ModeFlags & {
    readonly network: NetworkMode;
    readonly nodes: number;
    readonly lanCidr?: readonly Cidr[];
    readonly imageMap?: string;
    readonly relayServices?: true;
    readonly loadBalancerPool?: string;
    readonly loadBalancerInternalPool?: string;
  };

export function addUpFlags(command: Command): Command {
  return addModeFlags(addImageFlags(addRegistryFlag(addShutdownFlag(addPidFlag(command)))))
    .option(
      '--network <mode>',
      'Network mode. isolated: nodes and pods have their own network namespaces; host: this machine is the node, requires root; none: API server and controllers only',
      networkMode,
      'isolated' satisfies NetworkMode,
    )
    .option('--nodes <count>', 'Number of nodes in the isolated network', nodeCount, 1)
    .option(
      '--lan-cidr <cidrs>',
      'CIDRs of nodes and load balancers in the isolated network, one per IP family (default: 172.30.0.0/16 and fd30::/64, or unused ranges)',
      ranges,
    )
    .option('--image-map <file>', 'File that maps image names to commands and root directories')
    .option(
      '--relay-services',
      'Makes every Service reachable from this machine, each on its own loopback address',
    )
    .option(
      '--load-balancer-pool <ranges>',
      'Addresses for load balancers: CIDRs or FIRST-LAST ranges, separated by commas (default: a part of the isolated network)',
    )
    .option(
      '--load-balancer-internal-pool <ranges>',
      'Addresses for load balancers of Services annotated as internal (default: another part of the isolated network)',
    );
}

/** The range that guides for kubeadm use, and one of IPv6. */
const defaultPodRanges: readonly string[] = ['10.244.0.0/16', 'fd44::/48'];

/** Pod ranges of the available families. */
export function podRangesOf(
  { clusterCidr }: Pick<UpFlags, 'clusterCidr'>,
  families: readonly Family[],
): readonly Cidr[] {
  const ranges = clusterCidr ?? defaultPodRanges.flatMap((text) => parseCidr(text) ?? []);
  return ranges.filter(({ family }) => families.includes(family));
}

function networkMode(text: string): NetworkMode {
  const known = networkModes.find((mode) => mode === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(
    `"${text}" is not a network; it must be one of ${networkModes.join(', ')}.`,
  );
}

function nodeCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= maxNodes) return count;
  throw new InvalidArgumentError(`"${text}" is not a number of nodes from 1 to ${maxNodes}.`);
}

function ranges(text: string): readonly Cidr[] {
  const found = text.split(',').map((part) => {
    const range = parseCidr(part.trim());
    if (range !== undefined && hasRoom(range)) return range;
    throw new InvalidArgumentError(
      `"${part}" is not a network with room for nodes; it must be one like 172.30.0.0/16 or fd30::/64.`,
    );
  });
  if (new Set(found.map(({ family }) => family)).size === found.length) return found;
  throw new InvalidArgumentError('only one range of each family is allowed.');
}

/** Nodes are at the beginning, load balancers in the upper half. */
const hasRoom = ({ family, prefix }: Cidr): boolean => prefix <= (family === 'IPv4' ? 24 : 120);
