// All that stands at AWS for one Service, looked at again and again while it is changed.
import type { AwsCalls } from './apply-sdk.ts';
import type { Found } from './balancer.ts';
import { groupName, hasTags, type Tags } from './names.ts';
import { probeClassic } from './probe-classic.ts';
import { probeGroup } from './probe-groups.ts';
import { probeNetwork, probeTargetGroups } from './probe-network.ts';

export type FoundOptions = {
  readonly aws: AwsCalls;
  readonly name: string;
  /** Those that make things ours. */
  readonly tags: Tags;
  /** The kind that is wanted; absent when none is. */
  readonly kind?: 'classic' | 'network';
  /** Names of target groups that are wanted or may be there. */
  readonly targetGroups: readonly string[];
};

export type FoundProbe = {
  readonly probe: () => Promise<Found>;
  /** As last seen. */
  readonly last: () => Found;
};

/** Something has the name that is needed, and does not belong to us. */
export type OnForeign = (what: string) => void;

/**
 * What is not wanted and was not there at the first look is not looked for again. Target groups are remembered by their names: without
 * their balancer nothing leads to them.
 */
export function createFoundProbe(options: FoundOptions, onForeign: OnForeign): FoundProbe {
  const { aws, name, tags, kind } = options;
  const names = new Set(options.targetGroups);
  let last: Found | undefined;
  const ours = <T extends { readonly tags: Tags }>(found: T | undefined, what: string) => {
    if (found === undefined || hasTags(found.tags, tags)) return found;
    onForeign(what);
    return undefined;
  };
  const probeIf = async <T>(isNeeded: boolean, probe: () => Promise<T | undefined>) =>
    last === undefined || isNeeded ? probe() : undefined;
  return {
    last: () => last ?? { targetGroups: [] },
    async probe() {
      const [classic, network, group] = await Promise.all([
        probeIf(kind === 'classic' || last?.classic !== undefined, () => probeClassic(aws, name)),
        probeIf(kind === 'network' || last?.network !== undefined, () => probeNetwork(aws, name)),
        probeIf(kind === 'classic' || last?.group !== undefined, () =>
          probeGroup(aws, groupName(name)),
        ),
      ]);
      const ownNetwork = ours(network, `a network balancer "${name}"`);
      const targetGroups = await probeTargetGroups(aws, {
        ...(ownNetwork === undefined ? {} : { balancerArn: ownNetwork.arn }),
        names: [...names],
        tags,
      });
      for (const found of targetGroups) names.add(found.name);
      const ownClassic = ours(classic, `a classic balancer "${name}"`);
      const ownGroup = ours(group, `a security group "${groupName(name)}"`);
      last = {
        targetGroups,
        ...(ownClassic === undefined ? {} : { classic: ownClassic }),
        ...(ownNetwork === undefined ? {} : { network: ownNetwork }),
        ...(ownGroup === undefined ? {} : { group: ownGroup }),
      };
      return last;
    },
  };
}
