// A provider is made each time the lease is won; what is wrong with its flags is told at once all the same.
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
