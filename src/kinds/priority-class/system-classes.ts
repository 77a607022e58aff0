// The classes that every cluster has.

export type SystemClass = {
  readonly name: string;
  readonly value: number;
  readonly description: string;
};

export const systemPrefix = 'system-';

export const systemClasses: readonly SystemClass[] = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

export const isSystemClass = (name: string): boolean =>
  systemClasses.some((one) => one.name === name);
