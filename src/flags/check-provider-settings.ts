// Validates the flags of a provider at the start, although the provider is created only when the lease is acquired.
import { type MakeProvider, ProviderSettingsError } from '../cloud/provider.ts';
import { systemClock } from '../host/clock.ts';
import { silentLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { UsageError } from './command.ts';

export async function checkProviderSettings(
  makeProvider: MakeProvider,
  given: Pick<Parameters<MakeProvider>[0], 'clusterName' | 'settings'>,
): Promise<void> {
  const ending = new AbortController();
  try {
    await makeProvider(
      {
        ...given,
        followServices: () => {},
        clock: systemClock,
        log: silentLog,
        metrics: createMetrics(),
      },
      ending.signal,
    );
  } catch (error) {
    if (error instanceof ProviderSettingsError) throw new UsageError(`${error.message}.`);
    throw error;
  } finally {
    ending.abort();
  }
}
