// Nodes as AWS knows them: instances, and the security groups through which they are reached.
import type { Node } from '../../../kinds/node/types.ts';
import type { Annotations } from './annotations.ts';

export type Instance = {
  readonly id: string;
  readonly groupIds: readonly string[];
  /** AWS lets no others join a balancer; those that stop may stay. */
  readonly isRunning: boolean;
};

/** `aws:///zone/i-0123`, `aws://zone/i-0123` or `i-0123`; other machines can not be behind a balancer of AWS. */
export function instanceId({ spec }: Node): string | undefined {
  return /^(?:aws:\/\/\/?(?:[^/]*\/)*)?(i-[0-9a-zA-Z]+)$/.exec(spec.providerID ?? '')?.[1];
}

/** LBC-35: every label must be there, and have the value where one is given. */
export function targetInstanceIds(nodes: readonly Node[], labels: Annotations): readonly string[] {
  const fits = ({ metadata }: Node): boolean =>
    Object.entries(labels).every(([key, value]) => {
      const found = metadata.labels?.[key];
      return found !== undefined && (value === '' || found === value);
    });
  const ids = nodes.filter(fits).flatMap((node) => instanceId(node) ?? []);
  return [...new Set(ids)].sort();
}

/**
 * The groups of the instances that get our rules: of each instance the one with the cluster's tag. Without the tag we would not find
 * our rules again when the instance is gone, and with several it is ambiguous which one is meant.
 */
export function nodeGroupIds(
  instances: readonly Instance[],
  tagged: ReadonlySet<string>,
): readonly string[] {
  const ids = instances.map(({ id, groupIds }) => {
    const [first, ...others] = groupIds.filter((groupId) => tagged.has(groupId));
    if (first !== undefined && others.length === 0) return first;
    throw new Error(
      `Cannot let a balancer reach instance ${id}: ${others.length === 0 ? 'none' : others.length + 1} of its security groups has the tag of the cluster, exactly one must`,
    );
  });
  return [...new Set(ids)].sort();
}
