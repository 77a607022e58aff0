// The providers there are. To add one: its folder, with `flags.ts` (plain data) and a file that makes it, and its line here.
import type { ProviderEntry } from '../provider.ts';
import { awsFlags } from './aws/flags.ts';
import { localFlags } from './local/flags.ts';

/** What is not chosen is not loaded: an SDK is large. */
export const allProviders: readonly ProviderEntry[] = [
  {
    name: 'local',
    flags: localFlags,
    load: async () => (await import('./local/local-provider.ts')).makeLocalProvider,
  },
  {
    name: 'aws',
    flags: awsFlags,
    load: async () => (await import('./aws/run.ts')).makeAwsProvider,
  },
];
