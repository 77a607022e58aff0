// The flags that only `up` has.
import { type Command, InvalidArgumentError } from 'commander';
import type { ControllerFlags } from '../flags/controller-flags.ts';
import { addPidFlag, type PidFlag } from '../flags/pid-flag.ts';
import { addModeFlags, type ModeFlags } from '../flags/proxy-flags.ts';
import type { ServerFlags } from '../flags/server-flags.ts';
import { addShutdownFlag, type ShutdownFlag } from '../flags/shutdown-flag.ts';
import { type NetworkMode, networkModes } from '../flags/state-file.ts';
import type { Family } from '../ip/address.ts';
import { type Cidr, parseCidr } from '../ip/cidr.ts';
import { maxNodes } from './plan-lan.ts';

export type UpFlags = ServerFlags &
  ControllerFlags &
  PidFlag &
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
  return addModeFlags(addShutdownFlag(addPidFlag(command)))
    .option(
      '--network <mode>',
      'isolated: nodes and pods in namespaces of their own; host: this machine is the node, as root; none: API server and controllers only',
      networkMode,
      'isolated' satisfies NetworkMode,
    )
    .option('--nodes <count>', 'how many nodes the isolated network has', nodeCount, 1)
    .option(
      '--lan-cidr <cidrs>',
      'addresses of nodes and load balancers in the isolated network, one range of each family (default: 172.30.0.0/16, fd30::/64, or ranges that are free here)',
      ranges,
    )
    .option('--image-map <file>', 'what the names of images mean: commands and root directories')
    .option(
      '--relay-services',
      'answer for every Service on this machine, each on a loopback address of its own',
    )
    .option(
      '--load-balancer-pool <ranges>',
      'addresses for balancers, as CIDRs or FIRST-LAST with commas between (default: a part of the isolated network)',
    )
    .option(
      '--load-balancer-internal-pool <ranges>',
      'the same for Services whose annotations ask for an internal balancer (default: another part of the isolated network)',
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
