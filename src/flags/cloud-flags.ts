// The flags of the load balancer part, with cloud-controller-manager's names where they mean the same, and those of each provider.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProviderEntry, ProviderSettings } from '../cloud/provider.ts';
import { allProviders } from '../cloud/providers/all.ts';
import { defaultClusterName, defaultConcurrency } from '../cloud/run.ts';
import { wholeNumber } from './parse-values.ts';

export type CloudFlags = {
  readonly cloudProvider: ProviderEntry;
  readonly clusterName: string;
  readonly concurrentServiceSyncs: number;
  readonly loadBalancerClass?: string;
};

/** More concurrency does not help. */
const maxSyncs = 50;

export function addCloudFlags(command: Command, usual: string): Command {
  const names = allProviders.map(({ name }) => name).join(', ');
  command
    .addOption(
      new Option('--cloud-provider <name>', `Load balancer provider: ${names}`)
        .argParser(providerNamed)
        .default(providerNamed(usual), usual),
    )
    .option(
      '--cluster-name <name>',
      'Name of the cluster, which identifies its load balancers',
      defaultClusterName,
    )
    .addOption(
      new Option(
        '--concurrent-service-syncs <n>',
        `Number of Services to sync concurrently, 1 to ${maxSyncs}`,
      )
        .argParser(wholeNumber({ min: 1, max: maxSyncs }))
        .default(defaultConcurrency, String(defaultConcurrency)),
    )
    .option(
      '--load-balancer-class <name>',
      'Handles Services with this loadBalancerClass instead of those without one',
    );
  return addProviderFlags(command);
}

function addProviderFlags(command: Command): Command {
  for (const { flag, meaning, defaultValue } of allProviders.flatMap(({ flags }) => flags)) {
    const option = new Option(flag, meaning);
    command.addOption(
      defaultValue === undefined ? option : option.default(defaultValue, defaultValue),
    );
  }
  return command;
}

/** The values of the provider's flags. */
export function providerSettings(
  { flags: known }: ProviderEntry,
  flags: Readonly<Record<string, unknown>>,
): ProviderSettings {
  return Object.fromEntries(
    known.flatMap(({ key }) => {
      const value = flags[key];
      return typeof value === 'string' ? [[key, value]] : [];
    }),
  );
}

export function providerNamed(text: string): ProviderEntry {
  const found = allProviders.find(({ name }) => name === text);
  if (found !== undefined) return found;
  const names = allProviders.map(({ name }) => `"${name}"`).join(', ');
  throw new InvalidArgumentError(`"${text}" is not one of ${names}.`);
}
